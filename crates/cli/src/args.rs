//! The command line: verbs, and flags made from the tables of plan keys and engine options.

mod refusal;

use std::ffi::OsString;

use clap::builder::{NonEmptyStringValueParser, ValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mindful_core::plan;
use mindful_core::plan::bound::Bound;
use mindful_core::plan::settings::{Key, Trust};
use mindful_core::{Engine, Result, plan::units};

use crate::{io_keys, layers, registry, version};

/// Parses the command line; prints help and version itself.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches> {
    let args: Vec<OsString> = args.into_iter().collect();
    let verb = verb(&args);
    match command(engine(&args, verb.as_deref()), verb.as_deref()).try_get_matches_from(args) {
        Ok(matches) => Ok(matches),
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => error.exit(),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => error.exit(),
        Err(error) => Err(refusal::one_line(&error, &names())),
    }
}

/// The verb that is asked for, by a first look at what stands before it. That of `help` is any.
fn verb(args: &[OsString]) -> Option<String> {
    let look = looking(Command::new("mindful").args(globals()).allow_external_subcommands(true));
    let matches = look.try_get_matches_from(args).ok()?;
    matches.subcommand_name().filter(|verb| *verb != "help").map(str::to_owned)
}

/// The engine whose options the help of `verb` shows and its flags mean, by a second look at all of the command line.
fn engine(args: &[OsString], verb: Option<&str>) -> Option<&'static dyn Engine> {
    let matches = looking(command(None, Some(verb?))).try_get_matches_from(args).ok()?;
    matches.subcommand().and_then(|(verb, matches)| layers::engine(verb, matches))
}

/// `command`, for which nothing is an error and nothing is asked of it.
fn looking(command: Command) -> Command {
    let help = Arg::new("help").long("help").short('h').global(true).action(ArgAction::SetTrue);
    command.ignore_errors(true).disable_help_flag(true).arg(help)
}

/// All verbs, for the target that is measured where none is named.
pub fn of_default_target() -> Command {
    command(engine(&["mindful", "run"].map(OsString::from), Some("run")), None)
}

/// All verbs, by their names alone.
fn names() -> Command {
    command(None, Some(""))
}

/// All verbs, for a target of `engine`. Where `verb` is asked for, the others go without what is made from tables: there are
/// a hundred keys and more for each of a dozen verbs, and a program that is started often is started quickly.
fn command(engine: Option<&'static dyn Engine>, verb: Option<&str>) -> Command {
    let planned = |name: &'static str, about: &'static str| {
        let bare = Command::new(name).about(about);
        if verb.is_none_or(|verb| verb == name) { planned(bare, engine) } else { bare }
    };
    Command::new("mindful")
        .version(version::line())
        .about("Measures a platform through the database that will run on it")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(globals())
        .subcommand(run(planned))
        .subcommand(planned("load", "Make the dataset, or complete it, and prove its layout"))
        .subcommand(verify(planned))
        .subcommand(planned("cleanup", "Remove the dataset: only what is marked as mindful's own, listed first"))
        .subcommand(planned("plan", "Show what would run and where each value comes from"))
        .subcommand(doctor(planned))
        .subcommand(
            planned("sweep", "Walk a ladder of sessions, or of any keys: --sessions 1..256, --update-pct 0,20,50")
                .arg(full())
                .arg(live())
                .args(plan::SWEEP_KEYS.iter().map(|key| flag(key).help_heading("Sweep")))
                .arg(
                    Arg::new("resume")
                        .long("resume")
                        .value_name("RUN")
                        .help("Go on with a sweep that was interrupted or killed")
                        .help_heading("Sweep"),
                ),
        )
        .subcommand(
            planned("contrast", "Mindless against mindful I/O: raw reads and the database on the same bytes")
                .arg(repeat("3"))
                .arg(full())
                .arg(live()),
        )
        .subcommand(
            planned(
                "raw",
                "Files and devices alone: one step, Orion's jobs, a calibration, or parts of a disk in turn",
            )
            .arg(Arg::new("path").value_name("PATH").help("As --target raw:PATH"))
            .arg(full())
            .args(io_keys::KEYS.iter().map(|key| flag(key).help_heading("Job"))),
        )
        .subcommand(watch(planned))
        .subcommand(compare())
        .subcommand(
            planned("noise", "Repeat one plan and keep how much its runs differ on this platform")
                .arg(repeat("5").help("How often it is run [default: 5]")),
        )
        .subcommand(
            planned(
                "launch",
                "Print the script or manifest by which Slurm, mpirun or Kubernetes starts the ranks of a plan",
            )
            .arg(Arg::new("launcher").value_name("LAUNCHER").required(true).help("slurm, mpi or kubernetes")),
        )
        .subcommand(merge())
        .subcommands(of_stored_runs())
        .subcommand(show())
        .subcommand(export())
        .subcommand(import())
        .subcommand(pack())
        .subcommand(planned("rerun", "Run the plan of a stored run again, here, and compare").arg(run_name()))
        .subcommand(awr())
        .subcommand(trace())
        .subcommand(squeeze())
        .subcommand(engines())
        .subcommands(for_shells())
}

/// Flags of every verb.
fn globals() -> [Arg; 5] {
    let switch =
        |name: &'static str, short| Arg::new(name).long(name).short(short).global(true).action(ArgAction::SetTrue);
    [
        global("store", "DIR")
            .value_parser(NonEmptyStringValueParser::new())
            .help("Where runs are stored [default: the user's data directory; MINDFUL_STORE]"),
        global("format", "FORMAT").value_parser(["text", "json"]).default_value("text").help("Output: text or json"),
        global("plan", "FILE")
            .value_parser(NonEmptyStringValueParser::new())
            .help("Plan file [default: mindful.toml of this directory, if there is one]"),
        switch("yes", 'y').help("Answer yes to questions"),
        switch("quiet", 'q').help("Report the result alone, without a word of how it goes on"),
    ]
}

fn engines() -> Command {
    let grants = Arg::new("grants").long("grants").action(ArgAction::SetTrue);
    Command::new("engines")
        .about("List what can be measured, with options and capabilities")
        .arg(Arg::new("engine").value_name("ENGINE").help("This one alone"))
        .arg(grants.help("The least role it can be measured with, as SQL for an administrator"))
}

fn merge() -> Command {
    let runs = Arg::new("runs").value_name("RUN").num_args(1..).required(true);
    Command::new("merge")
        .about("Make one run of those that all ranks of a run stored: the figures that rank 0 reported")
        .arg(runs.help("Their folders, or their names in the store"))
        .arg(full())
}

fn of_stored_runs() -> [Command; 2] {
    let last = Arg::new("last").long("last").value_name("N").help("Only the N newest");
    let runs = Arg::new("runs").value_name("RUN").num_args(1..).required(true);
    [
        Command::new("list").about("List stored runs").arg(last),
        Command::new("delete")
            .about("Remove stored runs: listed first, and asked for")
            .arg(runs.help("Ids, their beginnings, tags, or latest")),
    ]
}

/// What a package or a shell's start-up asks for.
fn for_shells() -> [Command; 2] {
    let shell = Arg::new("shell").value_name("SHELL").required(true).help("Whose script is printed");
    let folder = Arg::new("folder").value_name("FOLDER").required(true).value_parser(NonEmptyStringValueParser::new());
    let folder = folder.help("Where the pages are written; it is made");
    [
        Command::new("completions")
            .about("Print a script by which a shell completes verbs and flags")
            .arg(shell.value_parser(clap::value_parser!(clap_complete::Shell))),
        Command::new("man").about("Write the manual pages into a folder").arg(folder),
    ]
}

fn doctor(planned: impl Fn(&'static str, &'static str) -> Command) -> Command {
    planned("doctor", "Show what would spoil the result, and the line that changes it").arg(
        Arg::new("fail_on")
            .long("fail-on")
            .value_name("SEVERITY")
            .value_parser(["warning", "error"])
            .help("End with exit code 1 where something is found that is as grave"),
    )
}

fn run(planned: impl Fn(&'static str, &'static str) -> Command) -> Command {
    let run = planned("run", "Run the workload and report: the main job");
    run.arg(explain()).arg(full()).arg(live()).arg(started_by())
}

fn verify(planned: impl Fn(&'static str, &'static str) -> Command) -> Command {
    planned("verify", "Prove the layout of what is loaded anew, and store the proof for later runs").arg(
        Arg::new("full")
            .long("full")
            .action(ArgAction::SetTrue)
            .help("Look at every block, where a sample of them would do"),
    )
}

/// Keys of a plan that say something of what is only watched.
const WATCHED: [&str; 4] = ["target", "duration", "device_trace", "node_exporter"];

fn watch(planned: impl Fn(&'static str, &'static str) -> Command) -> Command {
    let text = |name: &'static str, value: &'static str| Arg::new(name).long(name).value_name(value);
    planned("watch", "Show what a database and its host do by themselves, second by second, without any load")
        .mut_args(|arg| {
            let of_load = plan::KEYS.iter().any(|key| arg.get_id() == key.name && !WATCHED.contains(&key.name));
            if of_load { arg.hide(true) } else { arg }
        })
        .arg(text("only", "NAMES").help("Only counters whose source/name holds one of these, with commas"))
        .arg(text("top", "N").help("Only the N counters of each unit that moved most"))
        .arg(text("interval", "TIME").help("Time between two lines [default: 1s]"))
        .arg(Arg::new("all").long("all").action(ArgAction::SetTrue).help("Every counter that moved, a line each"))
        .arg(live())
}

fn show() -> Command {
    Command::new("show").about("Show a stored run").arg(run_name()).arg(explain()).arg(heat_map()).arg(full())
}

/// Forms that a stored run can be written in.
const EXPORTS: [&str; 14] = [
    "csv",
    "json",
    "jsonl",
    "html",
    "site",
    "svg",
    "png",
    "markdown",
    "bencher",
    "github-bigger",
    "github-smaller",
    "openmetrics",
    "awr_info",
    "flashdba",
];

fn export() -> Command {
    let runs = Arg::new("ids").value_name("RUN").num_args(0..).conflicts_with_all(["baseline", "candidate"]);
    let open = Arg::new("open").long("open").action(ArgAction::SetTrue).requires("output");
    let summary = Arg::new("github_summary").long("github-summary").action(ArgAction::SetTrue);
    let summary = summary.conflicts_with_all(["output", "as"]);
    let form = Arg::new("as").long("as").value_name("FORM").default_value("csv");
    let charts = mindful_report::charts::NAMES.map(|(name, _)| name);
    let chart = Arg::new("chart").long("chart").value_name("NAME").value_parser(charts).default_value("latency-iops");
    Command::new("export")
        .about("Write stored runs for other programs or people: steps, summary, all that happened, a page, a picture")
        .arg(runs.help("Id or prefix, tag, or `latest` [default: latest]; html, svg and png take several, and html compares two"))
        .arg(form.value_parser(EXPORTS).help(
            "csv: a line a step; json: the summary; jsonl: a line for all that happened; html: a page with all charts; \
             site: a folder of pages with an index, static files; svg: one of them; png: the same in pixels, in a build with the feature png; markdown: the report for a wiki or a merge request; bencher: Bencher's JSON; \
             github-bigger, github-smaller: JSON for github-action-benchmark; openmetrics: a sample a step; awr_info, flashdba: the columns of SLOB's tuple and of that parser of AWR \
             reports, where we have the figure",
        ))
        .arg(
            Arg::new("all")
                .long("all")
                .action(ArgAction::SetTrue)
                .conflicts_with("ids")
                .help("All stored runs, newest first (--as site)"),
        )
        .arg(chart.help("Which chart --as svg or png draws; differences is of two runs or sides"))
        .args(sides("of a comparison, on a page (--as html) or in a picture (--as svg or png)"))
        .arg(redact())
        .args(compared())
        .arg(summary.help("Append the report as Markdown to the file that GITHUB_STEP_SUMMARY names"))
        .arg(open.help("Show what was written to --output by the program the desktop has for it (xdg-open)"))
        .arg(output("Where it is written [default: stdout]"))
}

fn import() -> Command {
    Command::new("import")
        .about("Take in what other tools measured (AWR, Statspack, 10046 traces, Orion, pgio, fio) or a run folder; or make a plan of a slob.conf or pgio.conf, executing nothing")
        .arg(old_files("What is imported, known by its content: files, folders of them, patterns, or - for stdin"))
        .arg(Arg::new("tag").long("tag").value_name("TAG").help("Name of the stored runs"))
        .arg(
            Arg::new("unit")
                .long("unit")
                .value_name("UNIT")
                .value_parser(["us", "ms"])
                .help("Unit of latencies in a matrix of Orion: us (11.2 and later) or ms (before)"),
        )
        .arg(
            Arg::new("sessions")
                .long("sessions")
                .value_name("N,N,...")
                .help("Sessions of each file in turn, where its name does not end in them (awr.txt.8)"),
        )
        .arg(output("Where a plan is written [default: stdout]"))
}

fn redact() -> Arg {
    Arg::new("redact").long("redact").action(ArgAction::SetTrue).help(
        "Without the names of hosts, users, addresses, paths, databases, devices, processes and commands: `host-1` \
         stands for the same one everywhere",
    )
}

fn pack() -> Command {
    Command::new("pack")
        .about("Pack a run into one file: record, figures, page, plan, environment, version; `import` reads it")
        .arg(run_name())
        .arg(redact())
        .arg(output("Where it is written [default: RUN.tar.zst here]"))
}

fn full() -> Arg {
    Arg::new("full").long("full").action(ArgAction::SetTrue).help("The whole report instead of its first lines")
}

/// How mindful tells the ranks that it starts itself who they are of.
fn started_by() -> Arg {
    Arg::new("started_by").long("started-by").value_name("PID").hide(true).help("The process that started this rank")
}

fn live() -> Arg {
    Arg::new("live")
        .long("live")
        .action(ArgAction::SetTrue)
        .help("Show it on the whole terminal while it goes on: q leaves the view, not the run")
}

fn explain() -> Arg {
    Arg::new("explain")
        .long("explain")
        .value_name("FIGURE")
        .help("Formula, counters and readings behind a figure of the summary, or the rules behind the verdict")
}

fn heat_map() -> Arg {
    Arg::new("heat_map")
        .long("heat-map")
        .action(ArgAction::SetTrue)
        .conflicts_with("explain")
        .help("Latency over time instead: how many operations took how long, and how much time went into them")
}

fn output(help: &'static str) -> Arg {
    Arg::new("output").long("output").value_name("FILE").value_parser(NonEmptyStringValueParser::new()).help(help)
}

fn old_files(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE|FOLDER").num_args(1..).required(true).help(help)
}

fn awr() -> Command {
    Command::new("awr")
        .about("AWR and Statspack reports, one row each; nothing is stored")
        .arg(old_files("Reports, text or HTML, gzip or not: files, folders of them, patterns, or - for stdin"))
        .arg(
            Arg::new("format")
                .long("format")
                .value_name("FORMAT")
                .value_parser(["text", "json", "csv", "awr_info", "flashdba"])
                .default_value("text")
                .help("text: a table; awr_info: SLOB's tuple; flashdba: the columns of that parser; csv, json: all figures"),
        )
}

fn trace() -> Command {
    let text =
        |name: &'static str, flag: &'static str, value: &'static str| Arg::new(name).long(flag).value_name(value);
    Command::new("trace")
        .about("Waits of 10046 traces, exact to the microsecond, counted and by their time; nothing is stored")
        .arg(old_files("Traces of level 8 or 12, gzip or not, of any size; - for stdin"))
        .arg(text("group_by", "group-by", "FIELDS").help(
            "event, file, object, blocks, block, cursor, second, ela, p1, p2, p3; several with commas [default: event]",
        ))
        .arg(
            text("where", "where", "CONDITION")
                .help("Such as 'event~read and ela>10000': =, !=, <, <=, >, >=, ~ (holds)"),
        )
        .arg(text("top", "top", "N").help("Groups that are reported [default: 20]"))
}

/// The runs of both sides of a comparison.
fn sides(named: &str) -> [Arg; 2] {
    ["baseline", "candidate"].map(|side| {
        Arg::new(side).long(side).value_name("RUN").num_args(1..).help(format!("Runs of the {side} {named}"))
    })
}

/// What is compared.
fn compared() -> [Arg; 2] {
    [
        Arg::new("margin")
            .long("margin")
            .value_name("PERCENT")
            .help("Differences up to this do not matter [default: 3]"),
        Arg::new("figure").long("figure").value_name("NAME").help(
            "What is compared: throughput, mean, p99, reads, logical-reads, read-latency or per-price [default: \
             throughput; reads for what other tools measured]",
        ),
    ]
}

fn compare() -> Command {
    let text =
        |name: &'static str, flag: &'static str, value: &'static str| Arg::new(name).long(flag).value_name(value);
    Command::new("compare")
        .about("Tell whether the candidate is faster than the baseline, or only luckier")
        .args(sides("by id, prefix or tag"))
        .arg(
            Arg::new("history")
                .long("history")
                .value_name("RUN")
                .num_args(1..)
                .help("Runs of one plan in a row, or their tag: where did their level change?")
                .conflicts_with_all(["baseline", "candidate", "run"]),
        )
        .arg(
            text("run", "run", "PLAN")
                .num_args(2)
                .conflicts_with_all(["baseline", "candidate"])
                .help("Two plan files, run in turn"),
        )
        .arg(repeat("5"))
        .args(compared())
        .arg(text("fail_if", "fail-if", "GATE").help("Exit with 4 when this holds: 'slower>5%'"))
        .arg(
            text("undecided", "undecided", "WHAT")
                .value_parser(["fail", "pass"])
                .requires("fail_if")
                .help("What becomes of a gate that the runs do not decide: fail (exit with 4) or pass [default: fail]"),
        )
        .arg(
            text("junit", "junit", "FILE")
                .value_parser(NonEmptyStringValueParser::new())
                .requires("fail_if")
                .help("Write what the gate says as JUnit XML too, for a build server: a test case a point"),
        )
        .arg(redact())
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Compare what differs in more than the runs, or is invalid"),
        )
}

fn squeeze() -> Command {
    Command::new("squeeze")
        .about("Hold memory while a command runs, so that the page cache cannot hold its data")
        .arg(Arg::new("leave").long("leave").value_name("SIZE").required(true).help("Memory to leave available: 16GiB"))
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(1..)
                .last(true)
                .required(true)
                .value_parser(ValueParser::os_string())
                .help("What to run, after --"),
        )
}

/// How often `--repeat` says, at least `least`; `default` where it is not given.
pub fn repetitions(matches: &ArgMatches, least: u32, default: u32) -> Result<u32> {
    let bounded = |text: &String| {
        Bound::Count(least.into(), 1_000).check(text)?;
        units::parse_count(text).map(|count| u32::try_from(count).unwrap_or(default))
    };
    matches.get_one("repeat").map_or(Ok(default), bounded).map_err(|error| error.at("--repeat"))
}

fn repeat(default: &str) -> Arg {
    Arg::new("repeat").long("repeat").value_name("N").help(format!("Runs a side [default: {default}]"))
}

fn run_name() -> Arg {
    Arg::new("id").value_name("RUN").default_value("latest").help("Id, a unique prefix of it, a tag, or latest")
}

fn global(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).global(true)
}

/// What `-h` shows of a plan; `--help` shows all.
const MAIN: [&str; 10] =
    ["target", "sessions", "duration", "warmup", "scale", "schemas", "update_pct", "work_unit", "steady", "tag"];

/// `verb` with the whole plan, and the options of `engine` shown; those of others are understood and refused later.
fn planned(verb: Command, engine: Option<&'static dyn Engine>) -> Command {
    let shown = engine.map_or(&[][..], |engine| engine.options());
    let heading = engine.map_or_else(String::new, |engine| format!("Options of engine {}", engine.name()));
    let option = |key: &'static Key| {
        let own = shown.iter().any(|own| own.name == key.name);
        flag(key).help_heading(heading.clone()).hide(!own).hide_short_help(true)
    };
    verb.after_help("Options of other engines: the same with their --target, or `mindful engines`")
        .args(plan::KEYS.iter().map(|key| flag(key).help_heading("Plan").hide_short_help(!MAIN.contains(&key.name))))
        .args(registry::options(engine).into_iter().map(option))
}

fn flag(key: &Key) -> Arg {
    // An empty path would mean the current folder; an empty command is none.
    let filled = key.trust != Trust::Value && key.value != "COMMAND";
    let value = if filled { NonEmptyStringValueParser::new().into() } else { ValueParser::string() };
    let arg = Arg::new(key.name).long(key.flag_name()).help(key.help_text()).value_parser(value);
    if key.name == "target" {
        arg.value_name(key.value).allow_hyphen_values(true).action(ArgAction::Append)
    } else if key.value.is_empty() {
        arg.num_args(0..=1).default_missing_value("on").require_equals(true).value_name("on|off")
    } else if key.value == "on|off" {
        arg.num_args(0..=1).default_missing_value("on").value_name(key.value)
    } else {
        arg.value_name(key.value).allow_hyphen_values(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        command(None, None).debug_assert();
    }

    #[test]
    fn every_argument_of_every_verb_says_what_it_is() {
        for verb in command(None, None).get_subcommands() {
            for arg in verb.get_arguments() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let says = help.split('[').next().unwrap_or_default().trim();
                assert!(!says.is_empty(), "`mindful {} --help` does not explain {}", verb.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn an_unknown_flag_is_answered_with_the_nearest() {
        let error = parse(["mindful", "run", "--sesions", "4"].map(OsString::from)).unwrap_err();
        assert_eq!(error.to_string(), "unknown flag `--sesions`: did you mean `--sessions`?");
        let error = |line: &[&str]| parse(line.iter().map(OsString::from)).unwrap_err().to_string();
        assert_eq!(error(&["mindful", "rnu"]), "unknown verb `rnu`: did you mean `run`?");
        assert_eq!(
            error(&["mindful", "run", "--data-dir"]),
            "--data-dir is given without a value: give one: --data-dir <DIR>"
        );
        for flag in ["store", "plan", "data-dir", "fetch-dir", "target", "meet"] {
            let refusal = error(&["mindful", "run", &format!("--{flag}="), "--target", "null:"]);
            assert!(refusal.starts_with(&format!("--{flag} is given without a value")), "{refusal}");
        }
    }
}
