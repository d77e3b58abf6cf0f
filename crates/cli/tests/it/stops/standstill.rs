//! Stopped servers: their host accepts packets, but they do not answer.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{PATIENCE, end_within, until};

use crate::mindful::{Mindful, PAUSES, unwrapped};

/// How long operations may outlast the end of their step.
const END_GRACE: Duration = Duration::from_mins(1);
const STEP: Duration = Duration::from_secs(20);

/// A server, stopped with all its processes until this is dropped.
pub(crate) struct Stopped(Vec<Pid>);

impl Stopped {
    pub(crate) fn new(server: u32) -> Self {
        let server = Pid::from_raw(server.try_into().unwrap()).unwrap();
        kill_process(server, Signal::STOP).unwrap();
        // From here on it starts no other process.
        let mut stopped = Self(vec![server]);
        stopped.0.extend(children_of(server));
        stopped.0[1..].iter().for_each(|child| kill_process(*child, Signal::STOP).unwrap());
        stopped
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

fn children_of(parent: Pid) -> Vec<Pid> {
    let is_child = |pid: &Pid| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent_of = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)?.parse().ok());
        parent_of == Some(parent.as_raw_nonzero().get())
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).filter(is_child).collect()
}

/// Whether a report contains `why`, across line breaks.
fn reports(report: &str, why: &str) -> bool {
    unwrapped(report).contains(why)
}

/// Runs of both loops on the server at `url` end without help once its process is stopped, and print why.
pub(crate) fn both_loops_end_by_themselves(url: &str, server: u32) {
    let runs = ["server", "client"].map(|loops| {
        let (mindful, namespace) = (Mindful::new(), format!("of_{loops}"));
        let on = ["run", "-q", "--target", url, "--namespace", &namespace, "--loop", loops, "--warmup", "0s"];
        let duration = format!("{}s", STEP.as_secs());
        let work = ["--schemas", "1", "--scale", "8MiB", "--sessions", "2", "--duration", &duration];
        let work = [&work[..], &PAUSES].concat();
        let says = fs::File::create(mindful.path("says")).unwrap();
        let mut command = mindful.command(&[&on[..], &work].concat());
        let child = command.stdout(says.try_clone().unwrap()).stderr(says).spawn().unwrap();
        (mindful, child)
    });
    for (mindful, _) in &runs {
        until("no session works", || mindful.records().contains("\"event\":\"slice\""));
    }
    let (_stopped, began) = (Stopped::new(server), Instant::now());
    for (mindful, mut child) in runs {
        let (code, _) = end_within(&mut child, STEP + END_GRACE + PATIENCE);
        let (took, says) = (began.elapsed(), fs::read_to_string(mindful.path("says")).unwrap());
        let why = "operations continued for 60 s after the end of the step";
        assert!(took < STEP + END_GRACE + PATIENCE, "{code:?} after {took:?}: {says}");
        assert!(code == Some(1) && reports(&says, why), "{code:?}: {says}");
        let shown = mindful.text(&["show"]);
        assert!(shown.contains("INVALID") && reports(&shown, why), "{shown}");
    }
}
