//! Runs as a folder of web pages.

use std::collections::BTreeSet;
use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_analyze::compare::{NamedSide, OrderedBy};
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_record::file as record_file;
use mindful_report::escape;
use mindful_report::html::index;
use mindful_report::html::site::{self, IndexedRun};

use crate::commands::compare;
use crate::commands::import::files::{self, Named};
use crate::context;
use crate::intake::{self, PassingStore};
use crate::output_file;
use crate::prices::Prices;
use crate::runs::Runs;

/// Where a run of the site is.
enum Source {
    /// In the store, by its id.
    Stored(String),
    /// A pack or a run folder.
    Elsewhere(Named),
}

/// The site that is written. It holds one run at a time: all that stays of a run is its row.
struct Site<'a> {
    runs: &'a Runs<'a>,
    folder: &'a Path,
    replace: bool,
    by: OrderedBy,
    prices: Option<Prices>,
    written: BTreeSet<String>,
}

/// Writes a page for each run, and an index. The index lists unreadable runs with the reason.
pub(super) fn write(matches: &ArgMatches, runs: &Runs) -> Result<()> {
    let folder = matches
        .get_one::<String>("output")
        .filter(|folder| *folder != "-")
        .ok_or_else(|| Error::plan("--as site writes a folder", "pass --output FOLDER; it is created if needed"))?;
    let folder = Path::new(folder);
    let sources = sources(matches, runs)?;
    record_file::create_folders(folder).map_err(|error| {
        Error::plan(format!("cannot create {}: {error}", folder.display()), "choose another --output")
    })?;
    let prices = matches.get_one::<String>("prices").map(|path| Prices::read(Path::new(path))).transpose()?;
    let (by, margin) = compare::order_and_margin(matches)?;
    let replace = matches.get_flag("yes");
    let mut site = Site { runs, folder, replace, by, prices, written: BTreeSet::new() };
    let rows = sources.iter().map(|source| site.row(source)).collect::<Result<Vec<_>>>()?;
    let (readable, all) = (rows.iter().filter(|row| row.is_readable()).count(), rows.len());
    output_file::write(&folder.join("index.html"), index::index(rows, by, margin)?.as_bytes(), replace)?;
    context::tell(&format!("wrote {readable} of {all} runs to {}", folder.join("index.html").display()));
    Ok(())
}

/// All runs of the store, or those on the command line: names in the store, packs, run folders and folders of them.
fn sources(matches: &ArgMatches, runs: &Runs) -> Result<Vec<Source>> {
    if matches.get_flag("all") {
        return Ok(runs.store().ids()?.into_iter().map(Source::Stored).collect());
    }
    let names =
        matches.get_many::<String>("ids").map_or_else(|| vec!["latest"], |ids| ids.map(String::as_str).collect());
    let mut sources = Vec::new();
    let (store, ids) = (runs.store(), runs.store().ids()?);
    for name in names {
        let may_be_tag = name != "latest" && !name.contains('/') && !ids.iter().any(|id| id == name);
        let tagged = if may_be_tag { store.tagged(name)? } else { Vec::new() };
        if !tagged.is_empty() {
            sources.extend(tagged.into_iter().map(Source::Stored));
            continue;
        }
        match store.resolve(name) {
            Ok(id) => sources.push(Source::Stored(id)),
            Err(_) if Path::new(name).exists() => {
                let found = files::of_path(Path::new(name))?.into_iter();
                sources.extend(found.filter(files::is_run).map(Source::Elsewhere));
            }
            Err(error) => return Err(error),
        }
    }
    if sources.is_empty() {
        return Err(Error::plan("no runs and no packs were named", "pack a run: `mindful pack RUN`"));
    }
    Ok(sources)
}

impl Site<'_> {
    /// Writes the page of one run; returns its row of the index.
    fn row(&mut self, source: &Source) -> Result<IndexedRun> {
        let (name, read) = match source {
            Source::Stored(id) => (id.clone(), self.runs.read(id)),
            Source::Elsewhere(named) => (files::file_name(named), self.read_elsewhere(named)),
        };
        let unreadable =
            |why: &str| Ok(IndexedRun::unreadable(&escape(&self.runs.name(&name)), &escape(&self.runs.name(why))));
        let (run, analysis) = match read {
            Ok(read) => read,
            Err(error) => return unreadable(&error.to_string()),
        };
        let id = run.head.id.clone();
        if !self.written.insert(id.clone()) {
            return unreadable(&format!("another pack contains run {id}"));
        }
        let page = site::page((&run, &analysis));
        output_file::write(&self.folder.join(IndexedRun::file(&id)), page.as_bytes(), self.replace)?;
        let mut side = NamedSide { name: id, runs: vec![(run, analysis)], noise: None };
        if let Some(prices) = &self.prices {
            prices.attach(&mut side);
        }
        let (run, analysis) = &side.runs[0];
        Ok(IndexedRun::from_run(run, analysis, self.by))
    }

    fn read_elsewhere(&self, named: &Named) -> Result<(Run, Analysis)> {
        let passing = PassingStore::new()?;
        let id = intake::take_in(&passing.store, named)?.id;
        self.runs.read_in(&passing.store, &id)
    }
}
