//! A process group that ends when this process does, however that is.
//!
//! Its leader is a shell that reads from a pipe. Only this process has the other end, so the pipe closes even after SIGKILL
//! or an abort. Then the leader ends the whole group.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

/// Waits for the end of its input, ignores other signals, and ends its group.
const LEADER: &str = "trap '' INT TERM HUP; while read -r _; do :; done; kill -KILL 0";

#[derive(Debug)]
pub struct WatchedGroup(Child);

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
    pub fn spawn(&self, command: &mut Command) -> io::Result<Child> {
        command.process_group(self.id().as_raw_nonzero().get()).spawn()
    }

    pub fn id(&self) -> Pid {
        Pid::from_child(&self.0)
    }

    pub fn signal(&self, signal: Signal) {
        // All of it may have ended this very moment.
        let _ = kill_process_group(self.id(), signal);
    }

    /// After the command has ended; processes that it started in the background keep running.
    pub fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
