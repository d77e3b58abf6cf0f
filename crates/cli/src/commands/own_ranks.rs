//! Several targets and no launcher: `mindful run` starts a rank for each itself, is the first of them, and leaves nothing of
//! the others when it goes.

use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, RandomState};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::ranks::rank::Rank;
use mindful_core::{Error, Result};
use mindful_runner::Context;
use rustix::process::{Pid, Signal, getppid, kill_process};

use crate::commands::{ranks, show};
use crate::exit::Exit;
use crate::signals;

/// How long ranks may take to go once the first one has gone.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two looks at them.
const LOOK: Duration = Duration::from_millis(50);

/// Takes the run as its first rank, beside a process for each other one.
pub fn run(context: Context, first: &Rank, matches: &ArgMatches) -> Result<Exit> {
    if let Some(name) = ["meet", "job"].into_iter().find(|name| context.settings.get(name).is_some()) {
        return Err(Error::plan(
            format!(
                "{}: mindful starts the ranks of its {} targets itself",
                context.settings.describe_place(name),
                first.count
            ),
            "leave it away, or let a launcher start them: --rank K --ranks N",
        ));
    }
    let folder = Folder::new()?;
    let meet = format!("dir:{}", folder.0.display());
    let others = Others::start(first, &meet, matches, &context.stop)?;
    let context = Context { rank: Some(first.clone()), ..context };
    let ended = ranks::run_at(&meet, context, first, show::Form::of(matches));
    if ended.is_err() {
        others.0.stop();
    }
    ended
}

/// A folder of this process alone in which its ranks meet, as long as this lives.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Self> {
        let name = format!("mindful-{}-{:016x}", std::process::id(), RandomState::new().hash_one(std::process::id()));
        let path = std::env::temp_dir().join(name);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| {
            let place = path.display();
            Error::run(
                format!("{place}, where ranks would meet, cannot be made: {error}"),
                "set TMPDIR to a folder that can be written",
            )
        })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // Who goes with it may still put a file there.
    for _ in 0..3 {
        if fs::remove_dir_all(folder).is_ok() || !folder.exists() {
            return;
        }
    }
}

/// The other ranks as processes; waited for when this goes.
struct Others(Arc<Processes>);

#[derive(Default)]
struct Processes {
    all: Mutex<Vec<Child>>,
    /// Whether they were asked to end: asked twice, they would not even store what they have.
    asked: AtomicBool,
}

impl Processes {
    fn all(&self) -> MutexGuard<'_, Vec<Child>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks all to end, once.
    fn stop(&self) {
        if !self.asked.swap(true, Ordering::SeqCst) {
            self.all().iter_mut().for_each(|child| signal(child, Signal::TERM));
        }
    }
}

impl Others {
    fn start(first: &Rank, meet: &str, matches: &ArgMatches, stop: &StopFlag) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::run(format!("a rank cannot be started: {error}"), "look at the limit on processes (ulimit -u)")
        };
        let program = std::env::current_exe().map_err(failed)?;
        let others = Self(Arc::default());
        for number in 1..first.count {
            let mut command = Command::new(&program);
            command.args(std::env::args_os().skip(1));
            command.args(["--rank", &number.to_string(), "--ranks", &first.count.to_string(), "--meet", meet]);
            command.args(["--job", first.job.as_deref().unwrap_or_default()]);
            command.args(["--started-by", &std::process::id().to_string()]);
            if !matches.get_flag("quiet") {
                command.arg("--quiet");
            }
            // What a rank has to tell it tells the first one. Signals of a terminal go to that alone, which hands them on.
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
            others.0.all().push(command.spawn().map_err(failed)?);
        }
        others.hand_on(stop.clone());
        Ok(others)
    }

    /// Hands an interruption on as soon as it comes.
    fn hand_on(&self, stop: StopFlag) {
        let others = Arc::downgrade(&self.0);
        std::thread::spawn(move || {
            while let Some(all) = others.upgrade() {
                if stop.is_requested() {
                    return all.stop();
                }
                drop(all);
                std::thread::sleep(LOOK);
            }
        });
    }
}

/// Sends `signal` to a child that has not been waited for.
fn signal(child: &mut Child, signal: Signal) {
    if matches!(child.try_wait(), Ok(None)) {
        // It may have ended this very moment.
        let _ = kill_process(Pid::from_child(child), signal);
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        let lives = |child: &mut Child| matches!(child.try_wait(), Ok(None));
        while self.0.all().iter_mut().any(lives) && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        for child in self.0.all().iter_mut() {
            signal(child, Signal::KILL);
            // One that has ended says so at once.
            let _ = child.wait();
        }
    }
}

/// The process that started this rank, where mindful did that itself: the rank ends with it.
pub struct Parent {
    pid: u32,
    folder: PathBuf,
}

impl Parent {
    /// The parent that the command line names; from here on its end is that of this process too.
    pub fn of(matches: &ArgMatches, context: &Context) -> Option<Self> {
        let pid = matches.get_one::<String>("started_by")?.parse().ok()?;
        let folder = context.settings.get("meet").and_then(|meet| meet.strip_prefix("dir:")).unwrap_or_default();
        let parent = Self { pid, folder: PathBuf::from(folder) };
        let stop = context.stop.clone();
        // The kernel's own signal comes once for each thread of the parent, and who is asked twice ends at once.
        std::thread::spawn(move || {
            while !is_gone(pid) {
                std::thread::sleep(LOOK);
            }
            if !stop.is_requested() {
                signals::interrupt();
            }
        });
        Some(parent)
    }
}

/// Whether the parent of this process is another one than `pid`.
fn is_gone(pid: u32) -> bool {
    getppid().is_none_or(|parent| parent.as_raw_nonzero().get().unsigned_abs() != pid)
}

impl Drop for Parent {
    fn drop(&mut self) {
        if is_gone(self.pid) {
            remove(&self.folder);
        }
    }
}
