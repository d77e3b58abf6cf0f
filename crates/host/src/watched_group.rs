//! A process group that ends when this process does, however that is, and with it all that its command started.
//!
//! Its leader is a shell that reads from a pipe. Only this process has the other end, so the pipe closes even after SIGKILL
//! or an abort. Then the leader ends the whole group.
//!
//! A process may leave its group (`setsid`), but not its ancestors. A shell around a hook adopts what descendants of the hook
//! leave behind (`PR_SET_CHILD_SUBREAPER`), so everything is below it while it runs. A shell also waits for children that it
//! did not start; a command with children of its own, such as a server, would take an adopted one for its own. A control
//! group was rejected: it needs rights that a user seldom has.
#![expect(unsafe_code, reason = "a shell becomes a subreaper before it is executed; see its SAFETY note")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group, set_child_subreaper};

use crate::Kernel;
use crate::process::{Stat, descendants};

/// Reads the number of the shell around a hook, waits for the end of its input, and ignores other signals. Then it ends all
/// below that shell twice, because some may be starting others, and its group.
const LEADER: &str = "trap '' INT TERM HUP
command=
while read -r number; do command=$number; done
below() {
    for list in /proc/$1/task/*/children; do
        children=
        read -r children < \"$list\"
        for child in $children; do all=\"$all $child\"; below $child; done
    done
}
[ -z \"$command\" ] || for round in 1 2; do all=; below $command; kill -KILL $all; done
kill -KILL 0";
/// Runs its arguments as a child, and ends as that does.
const ADOPTER: &str = "\"$@\"; exit";
/// How often all below a command is looked for and ended, and the time between.
const ROUNDS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub struct WatchedGroup(Child);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchedCommand {
    group: Pid,
    pid: Pid,
}

impl WatchedGroup {
    pub fn start() -> io::Result<Self> {
        let mut leader = Command::new("/bin/sh");
        leader.env_clear().args(["-c", LEADER]).current_dir("/").process_group(0);
        leader.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(Self)
    }

    pub fn spawn(&self, command: &mut Command) -> io::Result<(Child, WatchedCommand)> {
        let group = Pid::from_child(&self.0);
        let child = command.process_group(group.as_raw_nonzero().get()).spawn()?;
        let pid = Pid::from_child(&child);
        Ok((child, WatchedCommand { group, pid }))
    }

    /// Starts a shell in the group, set up by `prepare`, that runs the line `hook` and adopts what it leaves behind.
    pub fn spawn_hook(&self, hook: &str, prepare: impl FnOnce(&mut Command)) -> io::Result<(Child, WatchedCommand)> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", ADOPTER, "sh", "/bin/sh", "-c", hook]);
        prepare(&mut shell);
        let leader = self.0.stdin.as_ref().map(AsRawFd::as_raw_fd);
        // SAFETY: the closure makes system calls and allocates nothing, and `self` keeps the leader's input open.
        unsafe {
            shell.pre_exec(move || {
                set_child_subreaper(Some(getpid()))?;
                // Written here, so that the leader has the number before the hook starts anything.
                leader.map_or(Ok(()), |leader| write_number(BorrowedFd::borrow_raw(leader), getpid()))
            });
        }
        self.spawn(&mut shell)
    }

    /// After the command has ended; processes that it started in the background keep running.
    pub fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes a line with the number of `pid`, without allocation.
fn write_number(to: BorrowedFd<'_>, pid: Pid) -> io::Result<()> {
    let mut line = [b'\n'; 11];
    let (mut at, mut rest) = (line.len() - 1, pid.as_raw_nonzero().get().unsigned_abs());
    while rest > 0 {
        at -= 1;
        line[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    rustix::io::write(to, &line[at..])?;
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};

    use super::*;

    /// Leaves a process behind, prints its number, and waits.
    const LEAVING: &str = "sh -c 'sleep 60 & echo $!'; echo left; sleep 60; true";

    /// Whether the shell that was started by `start` becomes the parent of what [`LEAVING`] leaves behind.
    fn adopts(start: impl FnOnce(&mut WatchedGroup) -> (Child, WatchedCommand)) -> bool {
        let mut group = WatchedGroup::start().unwrap();
        let (mut child, command) = start(&mut group);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let left = lines.next().unwrap().parse().unwrap();
        assert_eq!(lines.next().as_deref(), Some("left"));
        let parent = Stat::read(&Kernel::default(), left).unwrap().parent;
        let adopts = parent == child.id();
        command.kill();
        child.wait().unwrap();
        group.dismiss();
        adopts
    }

    #[test]
    fn only_the_shell_around_a_hook_adopts_what_it_leaves_behind() {
        assert!(adopts(|group| group
            .spawn_hook(LEAVING, |shell| {
                shell.stdout(Stdio::piped());
            })
            .unwrap()));
        let mut other = Command::new("/bin/sh");
        other.args(["-c", LEAVING]).stdout(Stdio::piped());
        assert!(!adopts(|group| group.spawn(&mut other).unwrap()));
    }
}
