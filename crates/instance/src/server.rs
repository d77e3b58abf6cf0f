//! The running server, and the guard that ends it when mindful does.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Events, Silent, emit_note};
use mindful_core::{Error, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::files::own_file;
use crate::folder::LOG;
use crate::log::{self, Log};
use crate::patience::{Patience, Progress};
use crate::program::{Chosen, Program, ServerKind, Site, find_complaint};
use crate::stale::{self, SERVER_LOCK};

const GUARD: &str = include_str!("guard.sh");
const POLL: Duration = Duration::from_millis(3);
const SLOW: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(250);
/// Time for the guard to kill a server before mindful does that, and then time for that.
const AT_ONCE: Duration = Duration::from_secs(8);
/// Time that a guard may outlive its server, to record its exit status.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A server that is ready, until this is dropped.
pub(crate) struct Server {
    guard: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
    kind: &'static ServerKind,
    data: PathBuf,
    log: Log,
    patience: Arc<Patience>,
}

impl Server {
    /// Starts the server and waits until it takes connections, recovery after a crash included, or until `patience` ends.
    pub(crate) fn start(
        program: &Arc<dyn Program>,
        site: &Site<'_>,
        chosen: &[Chosen],
        patience: &Arc<Patience>,
        events: &dyn Events,
    ) -> Result<Self> {
        let kind = program.kind();
        let failed = |error: io::Error| Error::target(format!("cannot start {}: {error}", kind.name), "");
        let log = Log::from_now(&site.folder.join(LOG)).map_err(failed)?;
        let mut command = site.account.command("/bin/sh", Path::new("/"));
        command.args(["-c", GUARD, "mindful-guard"]).args(kind.stop.map(|signal| signal.as_raw().to_string()));
        command.args(program.command_line(site, chosen));
        command
            .stdin(Stdio::piped())
            .stdout(take(&site.folder.join(SERVER_LOCK)).map_err(failed)?)
            .stderr(log.append().map_err(failed)?);
        let mut guard = command.spawn().map_err(failed)?;
        let (pipe, data, patience) = (guard.stdin.take(), site.data.clone(), Arc::clone(patience));
        let mut server = Self { guard, pipe, pid: 0, kind, data, log, patience };
        server.await_ready(program.as_ref(), site, events)?;
        Ok(server)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    fn await_ready(&mut self, program: &dyn Program, site: &Site<'_>, events: &dyn Events) -> Result<()> {
        let began = Instant::now();
        let mut warned = false;
        let refused = |why: &str, log: &Log| {
            Error::target(
                format!("{} {} did not start: {why}", program.kind().name, program.version()),
                format!("see {}; {}", log.path().display(), program.next_move(why)),
            )
        };
        loop {
            if let Some(pid) = stale::first_process(site.folder).filter(|pid| program.is_ready(site, *pid)) {
                self.pid = pid;
                return Ok(());
            }
            if let Ok(Some(status)) = self.guard.try_wait() {
                let why =
                    find_complaint(program, &self.log.said()).unwrap_or_else(|| format!("it ended with {status}"));
                return Err(refused(&why, &self.log));
            }
            if self.patience.is_cut_short() {
                return Err(Error::interrupted(format!("interrupted while {} started", self.kind.name)));
            }
            if began.elapsed() > SLOW {
                if !warned {
                    emit_note(
                        events,
                        format!("{} is still starting; after a crash it replays its log first", self.kind.name),
                    );
                    warned = true;
                }
                if let Some(line) = log::last_with(&self.log.said(), self.kind.waits_for_room) {
                    return Err(refused(&format!("it waits for space on a full disk ({line})"), &self.log));
                }
                std::thread::sleep(LOOK);
            }
            std::thread::sleep(POLL);
        }
    }

    /// Stops the server in order: sessions are ended, the cache is written. A server that cannot stop, or makes no
    /// progress, is killed.
    ///
    /// # Errors
    /// A process of it survives SIGKILL, for example while it waits for a disk.
    pub(crate) fn stop(&mut self, events: &dyn Events) -> Result<()> {
        // Held until the server has ended: when it closes before, the guard waits no longer.
        let mut pipe = self.pipe.take();
        let mut order = |line: &[u8]| pipe.as_mut().map(|pipe| pipe.write_all(line));
        let _ = order(b"stop\n");
        let (began, mut slow, mut looked) = (Instant::now(), false, None);
        let mut progress = Progress::begin(&self.processes());
        while self.guard_ended()?.is_none() {
            if looked.is_none_or(|looked: Instant| looked.elapsed() >= LOOK) {
                if self.processes().is_empty() {
                    return self.end_guard();
                }
                if let Some(why) = self.why_at_once(&mut progress) {
                    emit_note(events, why);
                    let _ = order(b"now\n");
                    return self.end_at_once();
                }
                looked = Some(Instant::now());
            }
            if !slow && began.elapsed() > SLOW {
                let name = self.kind.name;
                emit_note(
                    events,
                    format!("{name} is still stopping: it writes out what it cached; Ctrl-C or SIGTERM kills it"),
                );
                slow = true;
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }

    fn guard_ended(&mut self) -> Result<Option<ExitStatus>> {
        let failed = |error| Error::run(format!("cannot wait for {} to stop: {error}", self.kind.name), "");
        self.guard.try_wait().map_err(failed)
    }

    fn processes(&self) -> Vec<u32> {
        stale::processes(&self.data, self.kind)
    }

    /// Why the server should not have more time for its orderly stop.
    fn why_at_once(&self, progress: &mut Progress) -> Option<String> {
        let (name, said) = (self.kind.name, self.log.said());
        if self.patience.is_cut_short() {
            return Some(format!("{name} is killed: it recovers at its next start"));
        }
        if log::is_last(&said, self.kind.crashes, self.kind.has_recovered) {
            let why = log::last_with(&said, &["PANIC:"]).map_or_else(String::new, |why| format!(" ({why})"));
            return Some(format!("{name} crashed{why} and is killed: it recovers at its next start"));
        }
        if log::last_with(&said, self.kind.waits_for_room).is_some() {
            return Some(format!(
                "{name} waits for space on a full disk and is killed: free space before it starts again"
            ));
        }
        progress
            .has_ceased(&self.processes())
            .then(|| format!("{name} stops making progress and is killed: it recovers at its next start"))
    }

    /// Waits until the guard has ended the server at once. A guard that somebody stopped does not; then mindful ends both.
    fn end_at_once(&mut self) -> Result<()> {
        if self.guard_ends_within(AT_ONCE)? {
            return Ok(());
        }
        for pid in self.processes().into_iter().filter_map(|pid| Pid::from_raw(pid as i32)) {
            // It may have ended just now.
            let _ = kill_process(pid, Signal::KILL);
        }
        self.end_guard()
    }

    /// Ends a guard that outlives its server, because somebody stopped it.
    fn end_guard(&mut self) -> Result<()> {
        if !self.guard_ends_within(LAST_WORDS)? {
            let _ = kill_process_group(Pid::from_child(&self.guard), Signal::KILL);
        }
        if self.guard_ends_within(LAST_WORDS)? && self.processes().is_empty() {
            return Ok(());
        }
        Err(Error::run(
            format!("{} cannot be ended (its processes: {:?})", self.kind.name, self.processes()),
            "a process that waits for a disk ends when the disk answers",
        ))
    }

    fn guard_ends_within(&mut self, limit: Duration) -> Result<bool> {
        let began = Instant::now();
        while self.guard_ended()?.is_none() {
            if began.elapsed() >= limit {
                return Ok(false);
            }
            std::thread::sleep(POLL);
        }
        Ok(true)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop(&Silent);
    }
}

/// Takes the lock for a new server; the last process of an earlier one may need a moment to let go of it.
fn take(path: &Path) -> io::Result<File> {
    let file = own_file(path)?;
    let began = Instant::now();
    while file.try_lock().is_err() {
        if began.elapsed() > Duration::from_secs(10) {
            return Err(io::Error::other(format!("{} stays locked by an earlier server", path.display())));
        }
        std::thread::sleep(POLL);
    }
    file.set_len(0)?;
    // The exit status of the previous server must not count for this one, even after a crash of the host.
    file.sync_data()?;
    Ok(file)
}
