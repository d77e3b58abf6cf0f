//! Priority of threads where more wait than there are CPUs.
#![expect(unsafe_code, reason = "no safe call reads or sets a scheduling policy; see the SAFETY notes")]

use std::sync::{Mutex, PoisonError};

use crate::{Kernel, ownership, process};

/// Runs this thread before all that share the CPUs fairly, if mindful may (root, CAP_SYS_NICE, RLIMIT_RTPRIO); returns
/// whether it does. For threads that need little CPU, but at once: with a thousand busy processes a fair share of the
/// CPUs is a thousandth, and reading the counters of a boundary took seconds.
pub fn go_first() -> bool {
    round_robin(0)
}

/// A process with raised priority, and its former scheduling.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Raised {
    process: i32,
    name: String,
    before: i32,
}

/// All of them: an immediate end of the process runs no destructors.
static RAISED: Mutex<Vec<Raised>> = Mutex::new(Vec::new());

/// Another process of this host with the priority of [`go_first`], until this is dropped. By then a pooler may have
/// passed a server's process to another client.
#[derive(Debug)]
pub struct GoingFirst(Raised);

impl GoingFirst {
    /// Raises `process`, if it is called `name`, because its number may be of another namespace. A foreign server could
    /// name any process, so its process must belong to a system account. `None` if it does not, if mindful may not
    /// change it, or if it is real-time already.
    pub fn new(process: i32, name: &str, is_private: bool) -> Option<Self> {
        if !is_private && !is_of_system(process) {
            return None;
        }
        let before = policy_of(process).filter(|policy| SHARING.contains(policy) && is_called(process, name))?;
        let raised = Raised { process, name: name.to_owned(), before };
        let mut all = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        round_robin(process).then(|| {
            all.push(raised.clone());
            Self(raised)
        })
    }
}

impl Drop for GoingFirst {
    fn drop(&mut self) {
        let mut all = RAISED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|raised| *raised == self.0) {
            all.swap_remove(at).give_back();
        }
    }
}

/// Restores the priority of all processes; for code that ends this process at once.
pub fn give_back_all() {
    RAISED.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|raised| raised.give_back());
}

/// Highest number of a system account; accounts of people follow.
const LAST_OF_SYSTEM: u32 = 999;

const SHARING: [i32; 3] = [libc::SCHED_OTHER, libc::SCHED_BATCH, libc::SCHED_IDLE];

impl Raised {
    fn give_back(&self) {
        // Without CAP_SYS_NICE the policy may be restored, but not the flag.
        let given_back = |flag| schedule(self.process, self.before | flag, 0);
        let _ = is_called(self.process, &self.name) && (given_back(0) || given_back(libc::SCHED_RESET_ON_FORK));
    }
}

/// Whether all users of a process are system accounts or mindful's. Anyone else can listen in place of a stopped
/// server.
fn is_of_system(process: i32) -> bool {
    let own = [ownership::OWN, rustix::process::geteuid().as_raw()];
    let rights = u32::try_from(process).ok().and_then(|process| process::Rights::read(&Kernel::default(), process));
    rights.is_some_and(|rights| rights.users.iter().all(|user| *user <= LAST_OF_SYSTEM || own.contains(user)))
}

fn is_called(process: i32, name: &str) -> bool {
    let called = std::fs::read_to_string(format!("/proc/{process}/comm"));
    process > 0 && called.is_ok_and(|called| called.trim_end() == name)
}

fn policy_of(process: i32) -> Option<i32> {
    // SAFETY: the call takes a number and returns one.
    let policy = unsafe { libc::sched_getscheduler(process) };
    (process > 0 && policy >= 0).then_some(policy & !libc::SCHED_RESET_ON_FORK)
}

/// The lowest real-time priority; children of the thread have ordinary priority again.
fn round_robin(pid: libc::pid_t) -> bool {
    schedule(pid, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, 1)
}

fn schedule(pid: libc::pid_t, policy: libc::c_int, priority: libc::c_int) -> bool {
    // SAFETY: the type is plain numbers, for which zero is a value.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = priority;
    // SAFETY: the kernel reads the parameters during the call and keeps no address.
    unsafe { libc::sched_setscheduler(pid, policy, &raw const parameters) == 0 }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use super::*;

    /// Scheduling policy of this thread.
    fn policy() -> Option<i32> {
        policy_of(rustix::thread::gettid().as_raw_nonzero().get())
    }

    #[test]
    fn a_thread_may_go_first_but_its_children_do_not() {
        let (went, started) = std::thread::spawn(|| {
            let went = go_first();
            assert_eq!(policy(), Some(if went { libc::SCHED_RR } else { libc::SCHED_OTHER }));
            (went, std::thread::spawn(policy).join().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(started, Some(libc::SCHED_OTHER), "went first: {went}");
        assert_eq!(policy(), started);
        let others = [(i32::MAX, "none"), (1, "not the name of the first")];
        assert!(others.into_iter().all(|(process, name)| GoingFirst::new(process, name, true).is_none()));
    }

    /// A process that sleeps; ended when dropped.
    struct Other(std::process::Child);

    impl Other {
        fn start(change: impl FnOnce(&mut Command) -> &mut Command) -> std::io::Result<Self> {
            change(Command::new("sleep").arg("60")).spawn().map(Self)
        }

        fn number(&self) -> i32 {
            self.0.id().cast_signed()
        }

        fn policy(&self) -> Option<i32> {
            policy_of(self.number())
        }
    }

    impl Drop for Other {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn another_process_goes_first_only_while_requested() {
        for before in SHARING {
            let other = Other::start(|sleep| sleep).unwrap();
            assert!(schedule(other.number(), before, 0));
            let going = GoingFirst::new(other.number(), "sleep", false);
            let went = if going.is_some() { libc::SCHED_RR } else { before };
            assert_eq!(other.policy(), Some(went));
            drop(going);
            assert_eq!(other.policy(), Some(before));
        }
    }

    #[test]
    fn a_process_that_a_stranger_names_does_not_go_first() {
        let Ok(other) = Other::start(|sleep| sleep.uid(65_533)) else {
            return mindful_conformance::not_run("only root starts processes of others");
        };
        assert!(GoingFirst::new(other.number(), "sleep", false).is_none());
        let own = GoingFirst::new(other.number(), "sleep", true);
        assert_eq!(other.policy(), Some(if own.is_some() { libc::SCHED_RR } else { libc::SCHED_OTHER }));
    }

    #[test]
    fn a_real_time_process_is_unchanged() {
        let other = Other::start(|sleep| sleep).unwrap();
        if !schedule(other.number(), libc::SCHED_FIFO, 7) {
            return mindful_conformance::not_run("it needs root to make a process real-time");
        }
        assert!(GoingFirst::new(other.number(), "sleep", true).is_none());
        assert_eq!(other.policy(), Some(libc::SCHED_FIFO));
    }
}
