//! Runs that leave a store or come from elsewhere: folders and packs.

use std::fs;
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

use jiff::Timestamp;
use mindful_core::record::run::RunHead;
use mindful_core::{Error, ErrorKind, Result};

use super::{Store, cannot_create};
use crate::entry::read_summary;
use crate::file;
use crate::name::{IMPORTED, LOG, SUMMARY, begin, is_future};
use crate::pack;
use crate::reader::read_run;
use crate::writer::lock;

impl Store {
    /// Takes a copy of the run folder `dir` into the store, marked as made elsewhere; returns its id. Nothing but the
    /// record and the figures is copied, and no link is followed.
    pub fn import(&self, dir: &Path) -> Result<String> {
        let log = dir.join(LOG);
        let head = read_run(&log).map_err(|error| Error { kind: ErrorKind::Plan, ..error })?.head;
        check_begin(&head, &log)?;
        let id = head.id;
        self.make()?;
        let (whole, part) = (self.run_dir(&id), self.root.join(format!(".import-{id}-{}", std::process::id())));
        if whole.exists() {
            return Err(Error::plan(format!("run {id} is in the store already"), "remove it first to take the other"));
        }
        let copied = file::create_folder(&part).and_then(|()| {
            copy(&log, &part.join(LOG))?;
            // Figures that cannot be read are derived again when the run is shown.
            if read_summary(&dir.join(SUMMARY)).is_ok_and(|summary| summary.is_some()) {
                copy(&dir.join(SUMMARY), &part.join(SUMMARY))?;
            }
            file::create_new(&part.join(IMPORTED))?;
            fs::rename(&part, &whole)
        });
        copied.map_err(|error| {
            let _ = fs::remove_dir_all(&part);
            Error::run(format!("cannot import {}: {error}", dir.display()), "make room, or choose another --store")
        })?;
        Ok(id)
    }

    /// Takes the run of the pack `path` in, as one from elsewhere; returns its id.
    pub fn import_pack(&self, path: &Path) -> Result<String> {
        let bad = |why: String| {
            Error::plan(
                format!("{} is no pack of a run: {why}", path.display()),
                "copy it again from where it was made, or pack the run again: `mindful pack RUN`",
            )
        };
        self.make()?;
        let part = self.root.join(format!(".unpack-{}", std::process::id()));
        file::create_folder(&part).map_err(|error| cannot_create(&part, &error))?;
        let _part = pack::Passing(&part);
        pack::unpack(path, &part).map_err(bad)?;
        // The files of a pack are named by the pack.
        let [unpacked, packed] = [&part, path].map(|place| place.display().to_string());
        self.import(&part).map_err(|error| Error { what: error.what.replace(&unpacked, &packed), ..error })
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
                "give --output FILE, or --yes to replace it"
            } else {
                "give --output FILE in a folder that has room"
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
            format!("{} calls itself {id:?}, which is not an id of a run", log.display()),
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

fn copy(from: &Path, to: &Path) -> std::io::Result<u64> {
    std::io::copy(&mut file::open_itself(from)?, &mut file::create_new(to)?)
}
