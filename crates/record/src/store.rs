//! The store: all runs under one folder.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{ErrorKind as IoErrorKind, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use mindful_core::contract::event::Event;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::record::run::{Run, RunHead};
use mindful_core::result::{Finding, Summary};
use mindful_core::{Error, Result};
use mindful_host::ownership::Trusted;
use mindful_host::{Kernel, named_path};
use rustix::process::geteuid;

use crate::file;
use crate::judged::{Record, kept_by_us};
use crate::name::{IMPORTED, LOG, SUMMARY, begin, is_future, is_id, new_id};
use crate::reader::{
    Listed, each_event, each_line, read_changed, read_head, read_opened, read_run, read_summary, unread,
};
use crate::redact::Redactor;
use crate::writer::{RunWriter, lock};

/// Mark of a run that was made elsewhere.
const TAKEN_IN: &str = "this run was made elsewhere and imported";

/// All runs under one folder, `<root>/runs/<id>/`.
#[derive(Debug, Clone)]
pub struct Store {
    pub root: PathBuf,
}

impl Store {
    /// The store at `root`; nothing is created before it is needed.
    pub fn open(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    pub fn run_dir(&self, id: &str) -> PathBuf {
        self.runs().join(id)
    }

    fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Begins a run: creates its folder and writes its head. An empty id or start time is filled in.
    ///
    /// The target is not stored as given: the redacted one replaces it in all settings.
    pub fn create(&self, head: RunHead) -> Result<RunWriter> {
        self.begin(head, false)
    }

    /// The same for a run made of others that were not all made here: it is from elsewhere, too.
    pub fn create_taken_in(&self, head: RunHead) -> Result<RunWriter> {
        self.begin(head, true)
    }

    fn begin(&self, mut head: RunHead, imported: bool) -> Result<RunWriter> {
        let at = Timestamp::now();
        if head.started_at.is_empty() {
            head.started_at = format!("{at:.3}");
        }
        head.settings = without_secret(&head);
        self.make()?;
        let named = !head.id.is_empty();
        if named && (!is_id(&head.id) || head.id == "latest") {
            return Err(Error::plan(format!("{:?} cannot name a run", head.id), "use letters, digits and -"));
        }
        loop {
            // Two runs that begin within the same letters: the next attempt is later.
            if !named {
                head.id = new_id(Timestamp::now());
            }
            let dir = self.run_dir(&head.id);
            match file::create_folder(&dir) {
                Ok(()) => {
                    let made = |name: &str| {
                        file::create_new(&dir.join(name)).map_err(|error| cannot_create(&dir.join(name), &error))
                    };
                    if imported {
                        made(IMPORTED)?;
                    }
                    let log = made(LOG)?;
                    return RunWriter::begin(head, dir, log);
                }
                Err(error) if error.kind() == IoErrorKind::AlreadyExists && !named => {}
                Err(error) => return Err(cannot_create(&dir, &error)),
            }
        }
    }

    /// Refuses, before anything is written or removed, a store that another user could lead elsewhere: by a link, or, as
    /// root, by a folder of that user.
    fn check_place(&self) -> Result<()> {
        let way_in = named_path::folder(&self.runs()).and_then(|runs| {
            let trusted = || Trusted::of_process(&Kernel::default());
            if geteuid().is_root() { trusted().foreign_folder(&runs) } else { Ok(None) }
        });
        let refused = |why: String| {
            Err(Error::plan(
                format!("the store {} cannot be written: {why}", self.root.display()),
                "choose another --store DIR, in folders of your own",
            ))
        };
        match way_in {
            Ok(None) => Ok(()),
            Ok(Some(why)) => refused(format!("{why}, and that user could redirect root")),
            Err(error) => refused(error.to_string()),
        }
    }

    pub(crate) fn make(&self) -> Result<()> {
        self.check_place()?;
        file::create_folders(&self.runs()).map_err(|error| cannot_create(&self.runs(), &error))
    }

    /// Finds out whether a run can be stored, before anything costly is done for it.
    ///
    /// # Errors
    /// The store cannot be made or written, or has no room for the first MiB of a run.
    pub fn probe(&self) -> Result<()> {
        self.check_place()?;
        let path = self.root.join(format!(".probe-{}", std::process::id()));
        let written = file::create_folders(&self.runs()).and_then(|()| file::create(&path)).and_then(|mut file| {
            let written = file.write_all(&incompressible()).and_then(|()| file.sync_data());
            fs::remove_file(&path).and(written)
        });
        written.map_err(|error| {
            Error::plan(
                format!("the store {} cannot be written: {error}", self.root.display()),
                "free space, check its permissions, or choose another --store DIR; for a plain \
                 user XDG_DATA_HOME=DIR moves runs, programs and the private server's data",
            )
        })
    }

    /// Continues to write to run `id`, which was interrupted or killed; a torn last line is cut off. Returns the record
    /// so far.
    ///
    /// # Errors
    /// Another process writes to it ([`ErrorKind::Plan`]), or its record cannot be read or opened.
    pub fn go_on(&self, id: &str) -> Result<(RunWriter, Run)> {
        self.check(id)?;
        self.check_place()?;
        let log = self.run_dir(id).join(LOG);
        let fault = |error| {
            Error::run(format!("cannot continue {}: {error}", log.display()), "check its owner and its permissions")
        };
        let record = Record::open(&self.run_dir(id), file::open_to_append).map_err(fault)?;
        lock(&record.log, id)?;
        let (run, own, whole) = self.read_record(id, &record)?;
        record.log.set_len(whole).map_err(fault)?;
        Ok((RunWriter::go_on(run.head.clone(), self.run_dir(id), record.log, own), run))
    }

    /// Reads the run `id`, and returns whether it is our own. Then the effective user or root wrote it here, and no
    /// other user could write to it or replace it. Only the commands of such a run may be executed.
    pub fn read_judged(&self, id: &str) -> Result<(Run, bool)> {
        let log = self.log(id)?;
        let record = Record::open(&self.run_dir(id), file::open_itself).map_err(|error| unread(&log, &error))?;
        self.read_record(id, &record).map(|(run, own, _)| (run, own))
    }

    /// Contents of `record`, which was opened as that of run `id`, whether it is our own, and the bytes of its whole lines.
    fn read_record(&self, id: &str, record: &Record) -> Result<(Run, bool, u64)> {
        let log = self.run_dir(id).join(LOG);
        let opened = record.log.try_clone().map_err(|error| unread(&log, &error))?;
        let (run, whole) = read_opened(opened, &log)?;
        let above = [self.root.clone(), self.runs()].iter().all(|folder| kept_by_us(folder));
        Ok((self.named(id, run, self.edits(id)), above && record.is_own(), whole))
    }

    pub fn is_imported(&self, id: &str) -> bool {
        fs::symlink_metadata(self.run_dir(id).join(IMPORTED)).is_ok()
    }

    /// Reads the run `id`, a name that [`Store::resolve`] gave.
    pub fn read(&self, id: &str) -> Result<Run> {
        Ok(self.named(id, read_run(&self.log(id)?)?, self.edits(id)))
    }

    fn named(&self, id: &str, mut run: Run, edits: Option<Finding>) -> Run {
        // A run has the name of its folder, even if its record contains another.
        id.clone_into(&mut run.head.id);
        if self.is_imported(id) {
            run.notes.push(TAKEN_IN.to_owned());
        }
        run.findings.extend(edits);
        run
    }

    /// Reads the run `id` without the names that `redactor` takes out.
    pub fn read_redacted(&self, id: &str, redactor: &mut Redactor) -> Result<Run> {
        self.learn(id, redactor)?;
        let run = read_changed(&self.log(id)?, &mut |event| {
            redactor.event(event);
            Ok(())
        })?;
        let mut edits = self.edits(id);
        if let Some(edits) = &mut edits {
            redactor.finding(edits);
        }
        Ok(self.named(id, run, edits))
    }

    fn learn(&self, id: &str, redactor: &mut Redactor) -> Result<()> {
        let mut places = Vec::new();
        each_event(&self.log(id)?, &mut |event| {
            redactor.learn(event, &mut places);
            Ok(())
        })?;
        redactor.learn_places(places);
        Ok(())
    }

    /// Passes each complete line of the record of run `id` to `each`, without its end, and keeps no line.
    pub fn each_line(&self, id: &str, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
        each_line(&self.log(id)?, each)
    }

    /// Like [`Store::each_line`], but `redactor` replaces names. Events of a later version are omitted, because this
    /// version cannot find the names in them.
    pub fn each_redacted_line(
        &self,
        id: &str,
        redactor: &mut Redactor,
        each: &mut dyn FnMut(&str) -> Result<()>,
    ) -> Result<()> {
        self.learn(id, redactor)?;
        each_event(&self.log(id)?, &mut |mut event| {
            redactor.event(&mut event);
            if let Event::Head(head) = &mut event {
                id.clone_into(&mut head.id);
            }
            let line = serde_json::to_string(&event)
                .map_err(|error| Error::run(format!("an event cannot be written: {error}"), "report this"))?;
            each(&line)
        })
    }

    pub fn head(&self, id: &str) -> Result<RunHead> {
        read_head(&self.log(id)?)
    }

    pub fn log(&self, id: &str) -> Result<PathBuf> {
        self.check(id)?;
        Ok(self.run_dir(id).join(LOG))
    }

    /// Stores the figures of a run again if the stored ones cannot be read.
    pub fn mend_summary(&self, summary: &Summary) -> Result<()> {
        self.check(&summary.id)?;
        match read_summary(&self.run_dir(&summary.id).join(SUMMARY)) {
            Ok(_) => Ok(()),
            Err(_) => self.write_summary(summary),
        }
    }

    /// Stores the figures of a run, atomically. A newer summary replaces an older one.
    pub fn write_summary(&self, summary: &Summary) -> Result<()> {
        self.check(&summary.id)?;
        self.check_place()?;
        let path = self.run_dir(&summary.id).join(SUMMARY);
        let mut text = serde_json::to_vec_pretty(summary)
            .map_err(|error| Error::run(format!("cannot write {}: {error}", path.display()), "report this"))?;
        text.push(b'\n');
        file::replace(&path, &text).map_err(|error| {
            Error::run(format!("cannot write {}: {error}", path.display()), "free space, then `mindful show` the run")
        })
    }

    /// Ids of all runs, newest first.
    pub fn ids(&self) -> Result<Vec<String>> {
        let entries = match fs::read_dir(self.runs()) {
            Ok(entries) => entries,
            Err(error) if error.kind() == IoErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(Error::run(
                    format!("cannot read {}: {error}", self.runs().display()),
                    "choose another with --store",
                ));
            }
        };
        let mut ids: Vec<String> = entries
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| is_id(name) && is_folder(&self.run_dir(name)))
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

    /// Whether run `id` is ours by its name: not imported, and with an id that our version can have created by now.
    fn is_own_name(&self, id: &str) -> bool {
        !self.is_imported(id) && begin(id).is_some_and(|at| !is_future(at))
    }

    /// Ids of all runs with this tag, newest first; imported ones only if no other run has it.
    pub fn tagged(&self, tag: &str) -> Result<Vec<String>> {
        let has_tag =
            |id: &String| self.listed(id.clone()).head.is_some_and(|head| head.plan.tag.as_deref() == Some(tag));
        let tagged = self.ids()?.into_iter().filter(has_tag);
        let (own, imported): (Vec<_>, Vec<_>) = tagged.partition(|id| self.is_own_name(id));
        Ok(if own.is_empty() { imported } else { own })
    }

    /// The id for `name`: an id, `latest`, a tag (the newest run with it) or a unique prefix of an id. An imported run
    /// is `latest`, or has a tag, only if no other run is or has.
    pub fn resolve(&self, name: &str) -> Result<String> {
        let ids = self.ids()?;
        let Some(newest) = ids.first() else {
            return Err(Error::plan(format!("{} holds no runs", self.root.display()), "`mindful run` makes one"));
        };
        if name == "latest" {
            return Ok(ids.iter().find(|id| self.is_own_name(id)).unwrap_or(newest).clone());
        }
        if ids.iter().any(|id| id == name) {
            return Ok(name.to_owned());
        }
        if let Some(tagged) = self.tagged(name)?.into_iter().next() {
            return Ok(tagged);
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
    ///
    /// # Errors
    /// Another process writes to it ([`ErrorKind::Plan`]), or something of it cannot be removed.
    pub fn remove(&self, id: &str) -> Result<()> {
        self.check(id)?;
        self.check_place()?;
        let dir = self.run_dir(id);
        // A folder without a record that can be opened is not written to.
        let written = file::open(&dir.join(LOG)).ok();
        written.as_ref().map_or(Ok(()), |log| lock(log, id))?;
        fs::remove_dir_all(&dir)
            .map_err(|error| Error::run(format!("cannot remove {}: {error}", dir.display()), "remove it by hand"))
    }

    pub(crate) fn check(&self, id: &str) -> Result<()> {
        if is_id(id) && is_folder(&self.run_dir(id)) {
            return Ok(());
        }
        Err(Error::plan(format!("no run is called {id:?}"), "see `mindful list`"))
    }
}

/// Bytes that a store must have room for before a run begins.
const LEAST_ROOM: usize = 1 << 20;

/// As many bytes as must have room, which no file system makes smaller than they are.
fn incompressible() -> Vec<u8> {
    let state = RandomState::new();
    (0..LEAST_ROOM / 8).flat_map(|at| state.hash_one(at).to_ne_bytes()).collect()
}

/// Whether `path` is a folder itself, and no link to one.
fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
}

/// The settings, with the redacted target in place of the given one.
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

pub(crate) fn cannot_create(path: &Path, error: &std::io::Error) -> Error {
    Error::run(format!("cannot create {}: {error}", path.display()), "choose another place with --store DIR")
}

fn some_of<T: AsRef<str>>(ids: &[T]) -> String {
    let mut text = ids.iter().take(5).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if ids.len() > 5 {
        text.push_str(", …");
    }
    text
}
