//! Ranks that mindful starts itself on this host, one for each of several targets, without a launcher.
//!
//! Rank 0 is the process that the user started. It creates a private folder as the rendezvous, starts the other ranks
//! and ends with them: a rank without its parent interrupts itself, and rank 0 kills ranks that outlast it. No process
//! and no folder remains if any of the processes is killed.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, getppid, kill_process};

/// Time that ranks may outlast rank 0.
const PATIENCE: Duration = Duration::from_secs(20);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A folder for the ranks of this process; removed when this is dropped.
pub struct RendezvousFolder(PathBuf);

impl RendezvousFolder {
    /// Creates the folder; only its owner has access.
    pub fn create() -> Result<Self> {
        let name = format!("mindful-{}-{:016x}", std::process::id(), RandomState::new().hash_one(std::process::id()));
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            let place = path.display();
            Error::run(
                format!("cannot create {place}, where ranks would meet: {error}"),
                "set TMPDIR to a folder that can be written",
            )
        })?;
        Ok(Self(path))
    }

    pub fn url(&self) -> String {
        format!("dir:{}", self.0.display())
    }
}

impl Drop for RendezvousFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // A rank that ends at this moment may still create a file there.
    for _ in 0..3 {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

/// The other ranks as processes. On drop they are awaited, then the remaining ones are killed.
pub struct RankProcesses(Arc<Children>);

#[derive(Default)]
struct Children {
    all: Mutex<Vec<Child>>,
    /// Whether they were told to end. A second signal would keep them from storing their data.
    asked: AtomicBool,
}

impl Children {
    fn terminate(&self) {
        if !self.asked.swap(true, Ordering::SeqCst) {
            self.all.lock().iter_mut().for_each(|child| send(child, Signal::TERM));
        }
    }
}

impl RankProcesses {
    /// Starts `commands`, and passes on an interruption as soon as `stop` has it.
    pub fn start(commands: impl Iterator<Item = Command>, stop: &StopFlag) -> Result<Self> {
        let processes = Self(Arc::default());
        for mut command in commands {
            // Rank 0 reports for all. They have a separate process group: a terminal's signals reach only rank 0, which
            // passes them on.
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
            processes.0.all.lock().push(command.spawn().map_err(|error| {
                Error::run(format!("a rank cannot be started: {error}"), "check the limit on processes (ulimit -u)")
            })?);
        }
        processes.pass_on(stop.clone())?;
        Ok(processes)
    }

    pub fn terminate(&self) {
        self.0.terminate();
    }

    fn pass_on(&self, stop: StopFlag) -> Result<()> {
        let children = Arc::downgrade(&self.0);
        start_thread(move || {
            while let Some(children) = children.upgrade() {
                if stop.is_requested() {
                    return children.terminate();
                }
                drop(children);
                std::thread::sleep(POLL_INTERVAL);
            }
        })
    }
}

fn start_thread(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = std::thread::Builder::new().name("ranks".to_owned()).spawn(work);
    started.map(drop).map_err(|error| {
        Error::run(format!("a thread did not start: {error}"), "raise the limit on processes (ulimit -u)")
    })
}

fn send(child: &mut Child, signal: Signal) {
    if matches!(child.try_wait(), Ok(None)) {
        // It may have ended at this moment.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

impl Drop for RankProcesses {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        let lives = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        while self.0.all.lock().iter_mut().any(lives) && Instant::now() < until {
            std::thread::sleep(POLL_INTERVAL);
        }
        for child in self.0.all.lock().iter_mut() {
            send(child, Signal::KILL);
            let _ = child.wait();
        }
    }
}

/// The process that started this rank. The rank ends with it, and removes the rendezvous that it left.
pub struct ParentWatch {
    pid: u32,
    folder: PathBuf,
}

impl ParentWatch {
    /// Calls `interrupt` once process `pid` is gone, unless `stop` was requested before. `meet` is the rendezvous.
    pub fn start(
        pid: u32,
        meet: Option<&str>,
        stop: &StopFlag,
        interrupt: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let folder = meet.and_then(|meet| meet.strip_prefix("dir:")).unwrap_or_default();
        let stop = stop.clone();
        // The kernel's own signal would come once for each thread of the parent, and a second signal ends a process at
        // once.
        start_thread(move || {
            while !is_gone(pid) {
                std::thread::sleep(POLL_INTERVAL);
            }
            if !stop.is_requested() {
                interrupt();
            }
        })?;
        Ok(Self { pid, folder: PathBuf::from(folder) })
    }
}

/// Whether the parent of this process is another one than `pid`.
fn is_gone(pid: u32) -> bool {
    getppid().is_none_or(|parent| parent.as_raw_nonzero().get().unsigned_abs() != pid)
}

impl Drop for ParentWatch {
    fn drop(&mut self) {
        if is_gone(self.pid) {
            remove(&self.folder);
        }
    }
}
