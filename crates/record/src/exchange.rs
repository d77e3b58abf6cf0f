//! Runs that leave a store or come from elsewhere: folders and packs.

use std::fs;
use std::io::{ErrorKind as IoErrorKind, Write as _};
use std::path::Path;

use jiff::Timestamp;
use mindful_core::record::run::{Run, RunHead};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, ErrorKind, Result};

use crate::file;
use crate::name::{IMPORTED, LOG, begin, is_future};
use crate::pack;
use crate::reader::read_run;
use crate::store::{Store, cannot_create};
use crate::writer::lock;

/// Most bytes of the differences of an imported run.
const MOST_DIFFERENCES: u64 = 1 << 20;

/// A run that arrives from elsewhere, with the folder of its files.
#[derive(Debug)]
pub struct Arrival<'a> {
    pub run: Run,
    /// Where its files are.
    pub folder: &'a Path,
    /// The id in its pack; `None` for a run folder.
    pub packed_as: Option<&'a str>,
}

/// Compares the files of a run with its record; returns the differences, each in one line.
pub type Judge<'a> = &'a dyn Fn(&Arrival) -> Vec<String>;

impl Store {
    /// Takes a copy of the record in the run folder `dir` into the store, marked as made elsewhere; returns its id. No link
    /// is followed. The figures of the folder are not taken: `judge` compares them with the record.
    pub fn import(&self, dir: &Path, judge: Judge) -> Result<String> {
        self.take_in(dir, None, judge)
    }

    /// Takes the run of the pack `path` in, as one from elsewhere; returns its id.
    pub fn import_pack(&self, path: &Path, judge: Judge) -> Result<String> {
        let bad = |why: String| {
            Error::plan(
                format!("{} is not a pack of a run: {why}", path.display()),
                "copy it again from where it was made, or pack the run again: `mindful pack RUN`",
            )
        };
        self.make()?;
        let part = self.root.join(format!(".unpack-{}", std::process::id()));
        file::create_folder(&part).map_err(|error| cannot_create(&part, &error))?;
        let _part = pack::Passing(&part);
        let packed_as = pack::unpack(path, &part).map_err(bad)?;
        // The files of a pack are named by the pack.
        let [unpacked, packed] = [&part, path].map(|place| place.display().to_string());
        let taken = self.take_in(&part, Some(&packed_as), judge);
        taken.map_err(|error| Error { what: error.what.replace(&unpacked, &packed), ..error })
    }

    fn take_in(&self, dir: &Path, packed_as: Option<&str>, judge: Judge) -> Result<String> {
        let log = dir.join(LOG);
        let run = read_run(&log).map_err(|error| Error { kind: ErrorKind::Plan, ..error })?;
        check_begin(&run.head, &log)?;
        let id = run.head.id.clone();
        self.make()?;
        let (whole, part) = (self.run_dir(&id), self.root.join(format!(".import-{id}-{}", std::process::id())));
        if whole.exists() {
            return Err(Error::plan(
                format!("run {id} is in the store already"),
                "remove it first to import the other",
            ));
        }
        let differences = judge(&Arrival { run, folder: dir, packed_as });
        let copied = file::create_folder(&part).and_then(|()| {
            std::io::copy(&mut file::open_itself(&log)?, &mut file::create_new(&part.join(LOG))?)?;
            file::create_new(&part.join(IMPORTED))?.write_all(differences.join("\n").as_bytes())?;
            fs::rename(&part, &whole)
        });
        copied.map_err(|error| {
            let _ = fs::remove_dir_all(&part);
            Error::run(format!("cannot import {}: {error}", dir.display()), "free space, or choose another --store")
        })?;
        Ok(id)
    }

    /// Differences from its record that were found when the run was imported; `None` for a run made here, and for one
    /// with files that follow from its record.
    pub fn edits(&self, id: &str) -> Option<Finding> {
        let file = file::open_itself(&self.run_dir(id).join(IMPORTED)).ok()?;
        let differences = file::text(file, MOST_DIFFERENCES).unwrap_or_else(|error| error.to_string());
        let text = "Files that came with the record do not follow from it: they or the record were changed. All figures \
                    here follow from the record alone. Import the run from the host that measured it.";
        (!differences.is_empty()).then(|| codes::EDITED.finding(text, differences.replace('\n', "; ")))
    }

    /// Packs the run `id`, with texts by their names, into the new file `to`.
    ///
    /// # Errors
    /// Another process writes to the run, or the file cannot be written.
    pub fn pack(&self, id: &str, texts: &[(&str, String)], to: &Path, replace: bool) -> Result<()> {
        self.check(id)?;
        let log = file::open_itself(&self.run_dir(id).join(LOG));
        log.as_ref().map_or(Ok(()), |log| lock(log, id))?;
        let written = file::put(to, replace, |file| pack::write(&self.run_dir(id), id, texts, file));
        written.map_err(|error| {
            let next = if error.kind() == IoErrorKind::AlreadyExists {
                "pass --output FILE, or --yes to replace it"
            } else {
                "pass --output FILE in a folder with free space"
            };
            Error::plan(format!("{} cannot be written: {error}", to.display()), next)
        })
    }
}

/// Refuses the name and the time of a run that no host can have made by now: it would be in the place of newer runs.
fn check_begin(head: &RunHead, log: &Path) -> Result<()> {
    let id = &head.id;
    let Some(at) = begin(id) else {
        return Err(Error::plan(
            format!("{} contains the id {id:?}, which is not an id of a run", log.display()),
            "correct the id in its first line: date, time and three letters, such as 20261121-013542-k7f",
        ));
    };
    let started = head.started_at.parse::<Timestamp>().ok();
    match [Some(at), started].into_iter().flatten().find(|at| is_future(*at)) {
        None => Ok(()),
        Some(at) => Err(Error::plan(
            format!("{} began at {at}, which is in the future", log.display()),
            "check the clock of this host, or correct id and started_at in its first line",
        )),
    }
}
