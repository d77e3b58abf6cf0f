//! `mindful import`: stores results of other tools and runs of other hosts, and converts old configurations to plan files.

pub(crate) mod files;
mod known;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use mindful_core::contract::event::Events;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::plan::units::format_counted;
use mindful_core::plan::{KEYS, Plan};
use mindful_core::record::run::RunHead;
use mindful_core::{Error, Result};
use mindful_import::{ImportedPlan, LatencyUnit, MOST_SESSIONS, OldRun, OldStep};
use mindful_record::{Store, file as record_file};
use mindful_report::escape;
use mindful_report::repeat::quoted;

use crate::args::flags::{old_files, option, output};
use crate::exit::Exit;
use crate::output_file;
use crate::plan_file::{self, MOST_BYTES};
use crate::{context, intake, store, version};

use crate::verb::{Action, Verb};
pub(super) use files::Named;
use known::{KnownRuns, Overlap};

pub(super) const VERB: Verb = Verb {
    name: "import",
    about: "Store results of other tools and packed runs, or convert a configuration",
    details: "Import reads AWR and Statspack reports, 10046 traces, Orion, pgio and fio results, run folders and packs. It converts slob.conf and pgio.conf into a plan file and executes nothing of them.",
    example: "mindful import 'awr/*.txt' --tag old-array",
    page: "docs/old-results.md",
    plan: None,
    arguments: || {
        vec![
            old_files("Files, folders of files, patterns, or - for stdin; the format is recognized by content"),
            option("tag", "tag", "TAG").help("Tag of the stored runs"),
            option("unit", "unit", "UNIT")
                .value_parser(["us", "ms"])
                .hide_possible_values(true)
                .help("Unit of latencies in Orion's matrices: us (11.2 and later) or ms (before)"),
            option("sessions", "sessions", "N,N,...")
                .help("Sessions of each file in turn, for names that do not end in them (awr.txt.8)"),
            output("Plan file to write [default: stdout]"),
        ]
    },
    action: Action::Run(import),
};

fn import(matches: &ArgMatches) -> Result<Exit> {
    let named = files::named(matches)?;
    if let [whole @ (Named::Run(_) | Named::Pack(_))] = named.as_slice() {
        return whole_run(matches, whole);
    }
    let alone = matches!(named.as_slice(), [Named::File { sure: true, .. }]);
    let mut read = read_all(matches, named)?;
    if let ([plan], true) = (read.plans.as_slice(), alone) {
        return write_plan(matches, plan);
    }
    if read.plans.len() > 1 && matches.get_one::<String>("output").is_some() {
        return Err(Error::plan(
            "--output takes one plan, and there are several configurations",
            "import one at a time",
        ));
    }
    let (runs, without_unit) = mindful_import::runs(read.steps, unit(matches));
    read.refused.extend(without_unit);
    let mut output = read.output;
    store_runs(matches, runs, &mut output)?;
    if output.is_empty()
        && read.plans.is_empty()
        && let Some(error) = read.refused.first()
    {
        return Err(match read.refused.len() {
            1 => error.clone(),
            more => Error {
                next: format!("{}; {} more were refused", error.next, format_counted(more - 1, "file")),
                ..error.clone()
            },
        });
    }
    for error in &read.refused {
        let _ = writeln!(output, "not imported: {}", escape(&error.to_string()));
    }
    if !output.is_empty() && !read.plans.is_empty() {
        output.push('\n');
    }
    context::print(&output)?;
    read.plans.iter().try_for_each(|plan| write_plan(matches, plan).map(drop))?;
    Ok(Exit::Ok)
}

/// Contents of the files of a command line.
#[derive(Default)]
struct Contents {
    steps: Vec<OldStep>,
    plans: Vec<(PathBuf, ImportedPlan)>,
    refused: Vec<Error>,
    /// Lines about runs that were copied.
    output: String,
}

fn read_all(matches: &ArgMatches, named: Vec<Named>) -> Result<Contents> {
    let given = sessions(matches, named.len())?;
    let mut all = Contents::default();
    for (number, file) in named.into_iter().enumerate() {
        let read = match &file {
            Named::Run(_) | Named::Pack(_) => {
                store::open(matches).and_then(|store| taken(&store, &file)).map(|line| all.output.push_str(&line))
            }
            Named::File { path, .. } if path.extension().is_some_and(|end| end == "conf") => {
                configuration(path).map(|plan| all.plans.push((path.clone(), plan)))
            }
            Named::File { path, .. } => match files::read(path) {
                Ok(read) => {
                    take(&mut all.steps, read, given.get(number));
                    Ok(())
                }
                Err(error) if path.as_os_str() == "-" => Err(error),
                // A configuration under another name.
                Err(error) => configuration(path).map_err(|_| error).map(|plan| all.plans.push((path.clone(), plan))),
            },
        };
        all.refused.extend(read.err());
    }
    Ok(all)
}

/// Stores `runs`; a run that the store has already is not stored again.
fn store_runs(matches: &ArgMatches, runs: Vec<OldRun>, output: &mut String) -> Result<()> {
    if runs.is_empty() {
        return Ok(());
    }
    let (store, tag) = (store::open(matches)?, matches.get_one::<String>("tag"));
    let known = KnownRuns::of(&store)?;
    for old in runs {
        let files = number_of_files(&old.imported.files);
        let what = format!("{}, {}", escape(&old.imported.what), format_counted(files, "file"));
        let (id, there) = match known.overlap(&old, tag) {
            Overlap::Whole(id) => {
                let _ = writeln!(output, "run {id}: {what}, already there; see `mindful show {id}`");
                continue;
            }
            Overlap::Files(there) => (stored(&store, old, tag)?, there),
        };
        let _ = writeln!(output, "run {id}: {what}; see `mindful show {id}`");
        for (file, run) in there {
            let _ = writeln!(output, "already there: {}, in run {run}", escape(&file));
        }
    }
    Ok(())
}

/// The number of files; several results of one file are called `file#1` and so on.
fn number_of_files(names: &[String]) -> usize {
    let file = |name: &String| match name.rsplit_once('#') {
        Some((file, _)) if Path::new(file).exists() => file.to_owned(),
        _ => name.clone(),
    };
    names.iter().map(file).collect::<BTreeSet<_>>().len()
}

fn unit(matches: &ArgMatches) -> Option<LatencyUnit> {
    match matches.get_one::<String>("unit").map(String::as_str) {
        Some("us") => Some(LatencyUnit::Microseconds),
        Some("ms") => Some(LatencyUnit::Milliseconds),
        _ => None,
    }
}

/// The sessions of each of `files` files; empty without --sessions.
fn sessions(matches: &ArgMatches, files: usize) -> Result<Vec<u32>> {
    let Some(text) = matches.get_one::<String>("sessions") else { return Ok(Vec::new()) };
    let bad = |what: String| Error::plan(what, "pass one number per file, in their order: --sessions 1,2,4,8");
    let given = text.split(',').map(|count| match count.trim().parse() {
        Ok(sessions) if (1..=MOST_SESSIONS).contains(&sessions) => Ok(sessions),
        _ => Err(bad(format!("--sessions: `{}` is not a number from 1 to {MOST_SESSIONS}", count.trim()))),
    });
    let given = given.collect::<Result<Vec<u32>>>()?;
    if given.len() == files {
        Ok(given)
    } else {
        Err(bad(format!(
            "--sessions has {} for {}",
            format_counted(given.len(), "number"),
            format_counted(files, "file")
        )))
    }
}

fn take(steps: &mut Vec<OldStep>, read: Vec<OldStep>, sessions: Option<&u32>) {
    steps.extend(read.into_iter().map(|mut step| {
        step.sessions = sessions.copied().or(step.sessions);
        step
    }));
}

/// Copies a run into the store; returns the message lines.
fn taken(store: &Store, named: &Named) -> Result<String> {
    let taken = intake::take_in(store, named)?;
    let summary = if taken.differences.is_empty() {
        taken.analysis.summary
    } else {
        mindful_analyze::analyze(&store.read(&taken.id)?).summary
    };
    store.write_summary(&summary)?;
    let id = &taken.id;
    let edited = taken.differences.iter().map(|line| format!("EDITED: {line}\n"));
    Ok(edited.chain([format!("run {id} is stored; see `mindful show {id}`\n")]).collect())
}

fn whole_run(matches: &ArgMatches, named: &Named) -> Result<Exit> {
    context::print(&taken(&store::open(matches)?, named)?)
}

/// Stores a run of another tool; returns its id.
fn stored(store: &Store, old: OldRun, tag: Option<&String>) -> Result<String> {
    let mut settings = Settings::defaults(KEYS);
    settings.set("target", old.target.clone(), Origin::Default);
    if let Some(tag) = tag {
        settings.set("tag", tag.clone(), Origin::Flag("--tag".to_owned()));
    }
    let head = RunHead {
        started_at: old.began.unwrap_or_default(),
        mindful_build: Some(version::line()),
        target: old.target,
        imported: Some(old.imported),
        ..RunHead::new(old.engine, Plan::from_settings(&settings)?, settings)
    };
    let writer = store.create(head)?;
    old.events.into_iter().for_each(|event| writer.emit(event));
    writer.close()?;
    let id = writer.head.id.clone();
    let summary = mindful_analyze::analyze(&store.read(&id)?).summary;
    store.write_summary(&summary)?;
    Ok(id)
}

/// Reads a configuration as data.
fn configuration(source: &Path) -> Result<ImportedPlan> {
    let text = record_file::open(source).and_then(|file| record_file::text(file, MOST_BYTES)).map_err(|error| {
        Error::plan(
            format!("cannot read {}: {error}", source.display()),
            "name a slob.conf, a pgio.conf, a run folder or results of another tool",
        )
    })?;
    mindful_import::import_configuration(&name_of(source), &text)
}

fn name_of(source: &Path) -> String {
    source.file_name().map_or_else(|| source.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// Writes the plan file made of a configuration, and lists the settings that have no counterpart.
fn write_plan(matches: &ArgMatches, (source, imported): &(PathBuf, ImportedPlan)) -> Result<Exit> {
    let output = matches.get_one::<String>("output").map_or("-", String::as_str);
    if output == "-" {
        return context::print(&imported.toml);
    }
    output_file::write(Path::new(output), imported.toml.as_bytes(), matches.get_flag("yes"))?;
    let mut message =
        format!("{} is written from {}: {}\n", escape(output), escape(&name_of(source)), hint(Path::new(output)));
    for what in &imported.left_behind {
        // Writing to a string cannot fail.
        let _ = writeln!(message, "not carried over: {}", escape(what));
    }
    context::print(&message)
}

/// The next step with the plan file `output`; mindful.toml in the current folder is found automatically.
fn hint(output: &Path) -> String {
    let here = |path: &Path| path.parent().map(|parent| parent.join(".")).and_then(|parent| parent.canonicalize().ok());
    let is_found = output.file_name() == Some(plan_file::NAME.as_ref())
        && here(output).is_some_and(|folder| std::env::current_dir().is_ok_and(|current| current == folder));
    if is_found {
        return "every command in this folder will use it; see `mindful plan`".to_owned();
    }
    let quoted = quoted(&output.display().to_string());
    format!("see `mindful plan --plan {quoted}`, then `mindful run --plan {quoted}`")
}
