//! The running server, and the guard that ends it when mindful does.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Events, Silent, emit_note};
use mindful_core::{Error, Result};

use crate::files::{own_file, read_text};
use crate::log::{self, Log};
use crate::program::{Chosen, Kind, Program, Site};

const GUARD: &str = include_str!("guard.sh");
const POLL: Duration = Duration::from_millis(3);
/// From when on a start or a stop is called slow.
const SLOW: Duration = Duration::from_secs(3);
/// How long between two looks at why it is.
const LOOK: Duration = Duration::from_millis(250);

/// A server that is ready, until this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    guard: Child,
    pipe: Option<ChildStdin>,
    pid: u32,
    kind: &'static Kind,
    log: Log,
}

impl Server {
    /// Starts the server and waits until it takes connections, recovery after a crash included. Its processes keep `lock`
    /// locked; what it says goes to `log`.
    pub(crate) fn start(
        program: &dyn Program,
        site: &Site<'_>,
        chosen: &[Chosen],
        lock: &Path,
        log: &Path,
        events: &dyn Events,
    ) -> Result<Self> {
        let kind = program.kind();
        let failed = |error: io::Error| Error::target(format!("cannot start {}: {error}", kind.name), "");
        let log = Log::from_now(log).map_err(failed)?;
        let mut command = site.account.command("/bin/sh", Path::new("/"));
        command.args(["-c", GUARD, "mindful-guard"]).args(kind.stop.map(|signal| signal.as_raw().to_string()));
        command.args(program.command_line(site, chosen));
        command.stdin(Stdio::piped()).stdout(take(lock).map_err(failed)?).stderr(log.append().map_err(failed)?);
        let mut guard = command.spawn().map_err(failed)?;
        let pipe = guard.stdin.take();
        let mut server = Self { guard, pipe, pid: 0, kind, log };
        server.await_ready(program, site, lock, events)?;
        Ok(server)
    }

    /// The process id of the server's first process.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    fn await_ready(&mut self, program: &dyn Program, site: &Site<'_>, lock: &Path, events: &dyn Events) -> Result<()> {
        let began = Instant::now();
        let mut warned = false;
        loop {
            if let Some(pid) = pid(lock).filter(|pid| program.is_ready(site, *pid)) {
                self.pid = pid;
                return Ok(());
            }
            if let Ok(Some(status)) = self.guard.try_wait() {
                let why = program.complaint(&self.log.said()).unwrap_or_else(|| format!("it ended with {status}"));
                let next = program.next_move(&why);
                return Err(Error::target(
                    format!("{} {} did not start: {why}", self.kind.name, program.version()),
                    format!("see {}; {next}", self.log.path().display()),
                ));
            }
            if !warned && began.elapsed() > SLOW {
                emit_note(
                    events,
                    format!("{} is still starting, as after a crash it replays its log first", self.kind.name),
                );
                warned = true;
            }
            std::thread::sleep(POLL);
        }
    }

    /// Stops the server in order: sessions are ended, what is cached is written.
    pub(crate) fn stop(&mut self, events: &dyn Events) -> Result<()> {
        // Held until the server has ended: when it closes before, the guard waits no longer.
        let mut pipe = self.pipe.take();
        if let Some(pipe) = &mut pipe {
            let _ = pipe.write_all(b"stop\n");
        }
        let (began, mut said) = (Instant::now(), None);
        loop {
            match self.guard.try_wait() {
                Ok(None) => {}
                Ok(Some(_)) => return Ok(()),
                Err(error) => return Err(Error::run(format!("waiting for {} to stop: {error}", self.kind.name), "")),
            }
            if began.elapsed() > SLOW {
                let why = self.why_it_is_slow();
                // Who waits for room would do so for ever: it ends when the pipe closes, and replays its log when it starts.
                if why == Slow::WaitsForRoom {
                    drop(pipe.take());
                }
                if said != Some(why) {
                    emit_note(events, why.line(self.kind.name));
                    said = Some(why);
                }
                std::thread::sleep(LOOK);
            }
            std::thread::sleep(POLL);
        }
    }

    fn why_it_is_slow(&self) -> Slow {
        match log::last_with(&self.log.said(), self.kind.waits_for_room) {
            Some(_) => Slow::WaitsForRoom,
            None => Slow::WritesOut,
        }
    }
}

/// Why a server takes long to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slow {
    /// As far as is known.
    WritesOut,
    WaitsForRoom,
}

impl Slow {
    fn line(self, name: &str) -> String {
        match self {
            Self::WritesOut => format!("{name} is still stopping: it writes out what it cached; Ctrl-C twice ends it"),
            Self::WaitsForRoom => {
                format!("{name} waits for room on a full disk and is ended: free some space before it starts again")
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop(&Silent);
    }
}

/// The first process of the server that keeps, or last kept, `lock`.
pub(crate) fn pid(lock: &Path) -> Option<u32> {
    read_text(lock, 64).ok()?.lines().next()?.trim().parse().ok()
}

/// What that process ended with, if its guard saw it end.
pub(crate) fn status(lock: &Path) -> Option<i32> {
    read_text(lock, 64).ok()?.lines().nth(1)?.strip_prefix("ended ")?.trim().parse().ok()
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
    // How the last one ended is not said of this one, even if the whole host goes down.
    file.sync_data()?;
    Ok(file)
}
