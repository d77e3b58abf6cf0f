//! A process group that ends when this process does, however that is, and with it all that its command started.
//!
//! Its leader is a shell that reads from a pipe. Only this process has the other end, so the pipe closes even after SIGKILL
//! or an abort. Then the leader ends the whole group.
//!
//! A process may leave its group (`setsid`), but not its ancestors: the command adopts what its descendants leave behind
//! (`PR_SET_CHILD_SUBREAPER`), so everything is below it while it runs. A control group was rejected: it needs rights that a
//! user seldom has.
#![expect(unsafe_code, reason = "the command becomes a subreaper before it is executed; see its SAFETY note")]

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};

use crate::Kernel;
use crate::process::{Stat, descendants};

/// Reads the number of the command, waits for the end of its input, and ignores other signals. Then it ends all below the
/// command twice, because some may be starting others, and its group.
const LEADER: &str = "trap '' INT TERM HUP
while read -r number; do command=$number; done
below() {
    for list in /proc/$1/task/*/children; do
        children=
        read -r children < \"$list\"
        for child in $children; do all=\"$all $child\"; below $child; done
    done
}
for round in 1 2; do all=; below $command; kill -KILL $all; done
kill -KILL 0";
/// How often all below a command is looked for and ended, and the time between.
const ROUNDS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct WatchedGroup(Child);

/// A command that runs in a watched group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedCommand {
    group: Pid,
    pid: Pid,
}

impl WatchedGroup {
    /// Starts the leader.
    ///
    /// # Errors
    /// No process can be started.
    pub fn start() -> io::Result<Self> {
        let mut leader = Command::new("/bin/sh");
        leader.env_clear().args(["-c", LEADER]).current_dir("/").process_group(0);
        leader.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    /// Starts `command` in the group.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(&mut self, command: &mut Command) -> io::Result<(Child, WatchedCommand)> {
        let group = Pid::from_child(&self.0);
        // SAFETY: the closure makes one system call and allocates nothing.
        unsafe {
            command.pre_exec(|| Ok(set_child_subreaper(Some(getpid()))?));
        }
        let child = command.process_group(group.as_raw_nonzero().get()).spawn()?;
        if let Some(leader) = &mut self.0.stdin {
            // A leader that is gone ends nothing; this process still does.
            let _ = writeln!(leader, "{}", child.id());
        }
        let pid = Pid::from_child(&child);
        Ok((child, WatchedCommand { group, pid }))
    }

    /// After the command has ended; processes that it started in the background keep running.
    pub fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl WatchedCommand {
    pub fn signal(self, signal: Signal) {
        // All of it may have ended this very moment.
        let _ = kill_process_group(self.group, signal);
    }

    /// Ends the command, which has not been waited for, and all that it started.
    pub fn kill(self) {
        let kernel = Kernel::default();
        let is_alive = |pid: u32| Stat::read(&kernel, pid).is_ok_and(|stat| !stat.ended);
        for _ in 0..ROUNDS {
            let below = descendants(&kernel, self.pid.as_raw_nonzero().get().unsigned_abs());
            let alive: Vec<u32> = below.into_iter().skip(1).filter(|pid| is_alive(*pid)).collect();
            if alive.is_empty() {
                break;
            }
            for pid in alive.into_iter().filter_map(|pid| Pid::from_raw(pid.cast_signed())) {
                let _ = kill_process(pid, Signal::KILL);
            }
            thread::sleep(PAUSE);
        }
        self.signal(Signal::KILL);
    }
}
