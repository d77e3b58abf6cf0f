//! Stopped servers: their host accepts packets, but they do not answer.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, end_within};

use crate::mindful::processes::{all, command_line, stat};
use crate::mindful::{Mindful, PAUSES, unwrapped, wait_until};

/// How long operations may outlast the end of their step.
const END_GRACE: Duration = Duration::from_mins(1);
const STEP: Duration = Duration::from_secs(20);

/// Processes that are stopped until this is dropped.
pub(crate) struct Stopped(Vec<Pid>);

impl Stopped {
    /// A server with all its processes.
    pub(crate) fn new(server: u32) -> Self {
        let mut stopped = Self::of([server]);
        // From here on it starts no other process.
        stopped.stop(children(server).into_iter().map(|(pid, _)| pid));
        stopped
    }

    pub(crate) fn of(pids: impl IntoIterator<Item = u32>) -> Self {
        let mut stopped = Self(Vec::new());
        stopped.stop(pids);
        assert!(!stopped.0.is_empty(), "no process was found to stop");
        stopped
    }

    fn stop(&mut self, pids: impl IntoIterator<Item = u32>) {
        let pids = pids.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed()));
        // Some may have ended since the listing.
        self.0.extend(pids.filter(|pid| kill_process(*pid, Signal::STOP).is_ok()));
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

/// Child processes of `pid`, each with its title.
pub(crate) fn children(pid: u32) -> Vec<(u32, String)> {
    let has_parent = |child: &u32| stat(*child).get(1) == Some(&pid.to_string());
    all().filter(has_parent).map(|child| (child, command_line(child))).collect()
}

/// Runs of both loops on the server at `url` end without help once its process is stopped, and print why.
pub(crate) fn both_loops_end_by_themselves(url: &str, server: u32) {
    let runs = ["server", "client"].map(|loops| {
        let mindful = Mindful::new();
        let on = format!("run -q --target {url} --namespace of_{loops} --loop {loops} --warmup 0s");
        let work = format!("--schemas 1 --scale 8MiB --sessions 2 --duration {}s", STEP.as_secs());
        let says = fs::File::create(mindful.path("says")).unwrap();
        let mut command = mindful.command((on, work, PAUSES));
        let child = command.stdout(says.try_clone().unwrap()).stderr(says).spawn().unwrap();
        (mindful, child)
    });
    for (mindful, _) in &runs {
        wait_until("no session works", || mindful.records().contains("\"event\":\"slice\""));
    }
    let (_stopped, began) = (Stopped::new(server), Instant::now());
    for (mindful, mut child) in runs {
        let (code, _) = end_within(&mut child, STEP + END_GRACE + PATIENCE);
        let (took, says) = (began.elapsed(), fs::read_to_string(mindful.path("says")).unwrap());
        let why = "operations continued for 60 s after the end of the step";
        assert!(took < STEP + END_GRACE + PATIENCE, "{code:?} after {took:?}: {says}");
        assert!(code == Some(1) && unwrapped(&says).contains(why), "{code:?}: {says}");
        let shown = mindful.text("show");
        assert!(shown.contains("INVALID") && unwrapped(&shown).contains(why), "{shown}");
    }
}
