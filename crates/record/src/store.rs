//! The store: all runs under one folder.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mindful_core::result::Summary;
use mindful_core::run::{Run, RunHead};
use mindful_core::settings::{Origin, Settings};
use mindful_core::{Error, Result};

use crate::entry::Listed;
use crate::name::{LOG, SUMMARY, is_id, new_id};
use crate::reader::read_run;
use crate::writer::RunWriter;

/// All runs under one folder, `<root>/runs/<id>/`.
#[derive(Debug, Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// The store at `root`; nothing is created before it is needed.
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of a run.
    pub fn run_dir(&self, id: &str) -> PathBuf {
        self.runs().join(id)
    }

    fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Begins a run: makes its folder and writes its head. An empty id or start time is filled in.
    ///
    /// The target as given is not stored: where a setting repeats it, the redacted one takes its place.
    pub fn create(&self, mut head: RunHead) -> Result<RunWriter> {
        let at = Timestamp::now();
        if head.started_at.is_empty() {
            head.started_at = format!("{at:.3}");
        }
        head.settings = without_secret(&head);
        fs::create_dir_all(self.runs()).map_err(|error| cannot_create(&self.runs(), &error))?;
        let named = !head.id.is_empty();
        if named && !is_id(&head.id) {
            return Err(Error::plan(format!("{:?} cannot name a run", head.id), "use letters, digits and -"));
        }
        loop {
            if !named {
                head.id = new_id(at);
            }
            let dir = self.run_dir(&head.id);
            match fs::create_dir(&dir) {
                Ok(()) => {
                    let log = dir.join(LOG);
                    let file = File::create_new(&log).map_err(|error| cannot_create(&log, &error))?;
                    return RunWriter::begin(head, dir, file);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists && !named => {}
                Err(error) => return Err(cannot_create(&dir, &error)),
            }
        }
    }

    /// Goes on writing to run `id`, which was interrupted or killed; a torn last line is cut off.
    pub fn go_on(&self, id: &str) -> Result<RunWriter> {
        let run = self.read(id)?;
        let (dir, log) = (self.run_dir(id), self.run_dir(id).join(LOG));
        let opened = File::options().read(true).append(true).open(&log).and_then(|file| {
            let text = fs::read(&log)?;
            let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            file.set_len(whole as u64)?;
            Ok(file)
        });
        let file = opened.map_err(|error| {
            Error::run(format!("cannot go on with {}: {error}", log.display()), "look at its owner and its rights")
        })?;
        Ok(RunWriter::go_on(run.head, dir, file))
    }

    /// Reads the run `id`, a name that [`Store::resolve`] gave.
    pub fn read(&self, id: &str) -> Result<Run> {
        self.check(id)?;
        read_run(&self.run_dir(id).join(LOG))
    }

    /// Stores the figures of a run, whole or not at all. A newer summary takes the place of an older one.
    pub fn write_summary(&self, summary: &Summary) -> Result<()> {
        self.check(&summary.id)?;
        let (path, next) =
            (self.run_dir(&summary.id).join(SUMMARY), self.run_dir(&summary.id).join("summary.json.new"));
        let mut text = serde_json::to_vec_pretty(summary)
            .map_err(|error| Error::run(format!("cannot write {}: {error}", path.display()), "report this"))?;
        text.push(b'\n');
        let written = File::create(&next).and_then(|mut file| {
            file.write_all(&text)?;
            file.sync_all()?;
            fs::rename(&next, &path)
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&next);
            Error::run(format!("cannot write {}: {error}", path.display()), "make room, then `mindful show` the run")
        })
    }

    /// Ids of all runs, newest first.
    pub fn ids(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.runs()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(Error::run(
                    format!("cannot read {}: {error}", self.runs().display()),
                    "choose another with --store",
                ));
            }
        };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_id(name) && self.run_dir(name).is_dir())
            .collect();
        ids.sort_unstable_by(|a, b| b.cmp(a));
        Ok(ids)
    }

    /// All runs, newest first; one that cannot be read is there with its fault.
    pub fn list(&self) -> Result<Vec<Listed>> {
        Ok(self.ids()?.into_iter().map(|id| self.listed(id)).collect())
    }

    fn listed(&self, id: String) -> Listed {
        let dir = self.run_dir(&id);
        Listed::read(id, &dir)
    }

    /// The id that `name` stands for: an id, `latest`, a tag (the newest run that bears it) or a unique prefix of an id.
    pub fn resolve(&self, name: &str) -> Result<String> {
        let ids = self.ids()?;
        let Some(newest) = ids.first() else {
            return Err(Error::plan(format!("{} holds no runs", self.root.display()), "`mindful run` makes one"));
        };
        if name == "latest" {
            return Ok(newest.clone());
        }
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        let bears =
            |id: &&String| self.listed((*id).clone()).head.is_some_and(|head| head.plan.tag.as_deref() == Some(name));
        if let Some(tagged) = ids.iter().find(bears) {
            return Ok(tagged.clone());
        }
        let begun: Vec<_> = ids.iter().filter(|id| !name.is_empty() && id.starts_with(name)).collect();
        match begun.as_slice() {
            [one] => Ok((*one).clone()),
            [] => Err(Error::plan(
                format!("no run is called {name:?}"),
                format!("the newest are {}; see `mindful list`", some_of(&ids)),
            )),
            many => Err(Error::plan(
                format!("{} runs begin with {name:?}", many.len()),
                format!("choose one of {}", some_of(many)),
            )),
        }
    }

    /// Removes the run `id` with everything in its folder.
    pub fn remove(&self, id: &str) -> Result<()> {
        self.check(id)?;
        let dir = self.run_dir(id);
        fs::remove_dir_all(&dir)
            .map_err(|error| Error::run(format!("cannot remove {}: {error}", dir.display()), "remove it by hand"))
    }

    /// Takes a copy of the run folder `dir` into the store; returns its id.
    pub fn import(&self, dir: &Path) -> Result<String> {
        let log = dir.join(LOG);
        let id = read_run(&log)?.head.id;
        if !is_id(&id) {
            return Err(Error::run(
                format!("{} calls itself {id:?}, which cannot name a run", log.display()),
                "correct the id in its first line",
            ));
        }
        fs::create_dir_all(self.runs()).map_err(|error| cannot_create(&self.runs(), &error))?;
        let (whole, part) = (self.run_dir(&id), self.root.join(format!(".import-{id}-{}", std::process::id())));
        if whole.exists() {
            return Err(Error::plan(format!("run {id} is in the store already"), "remove it first to take the other"));
        }
        let copied = fs::create_dir(&part).and_then(|()| {
            fs::copy(&log, part.join(LOG))?;
            if dir.join(SUMMARY).is_file() {
                fs::copy(dir.join(SUMMARY), part.join(SUMMARY))?;
            }
            fs::rename(&part, &whole)
        });
        copied.map_err(|error| {
            let _ = fs::remove_dir_all(&part);
            Error::run(format!("cannot import {}: {error}", dir.display()), "make room, or choose another --store")
        })?;
        Ok(id)
    }

    fn check(&self, id: &str) -> Result<()> {
        if is_id(id) && self.run_dir(id).is_dir() {
            return Ok(());
        }
        Err(Error::plan(format!("no run is called {id:?}"), "see `mindful list`"))
    }
}

/// The settings, with the redacted target wherever the target stands as it was given.
fn without_secret(head: &RunHead) -> Settings {
    let mut settings = head.settings.clone();
    let given = head.plan.target.as_str();
    for (name, setting) in head.settings.iter() {
        if name == "target" || (!given.is_empty() && setting.value == given) {
            let origin: Origin = setting.origin.clone();
            settings.set(name, head.target.clone(), origin);
        }
    }
    settings
}

fn cannot_create(path: &Path, error: &std::io::Error) -> Error {
    Error::run(format!("cannot create {}: {error}", path.display()), "choose another place with --store DIR")
}

/// The first few names.
fn some_of<T: AsRef<str>>(ids: &[T]) -> String {
    let mut text = ids.iter().take(5).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if ids.len() > 5 {
        text.push_str(", …");
    }
    text
}
