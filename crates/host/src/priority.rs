//! Who goes first where more wait for a CPU than there are.
#![expect(unsafe_code, reason = "no safe call sets a scheduling policy; see the SAFETY note")]

/// Lets this thread go before all that share the CPUs fairly, if mindful may (root, CAP_SYS_NICE, RLIMIT_RTPRIO); tells
/// whether it does. For threads that need next to no CPU, but at once: beside a thousand busy processes a fair share of the
/// CPUs is a thousandth, and reading the counters of a boundary took seconds.
pub fn go_first() -> bool {
    round_robin(0)
}

/// Another process of this host that goes first, as [`go_first`] says, until this is dropped. A server's process may serve
/// somebody else then, to whom a pooler lends it.
#[derive(Debug)]
pub struct GoingFirst {
    process: i32,
    name: String,
}

impl GoingFirst {
    /// Of `process`, if it is called `name`: its number may be of another namespace. `None` where it is not, or where mindful
    /// may not.
    pub fn new(process: i32, name: &str) -> Option<Self> {
        (is_called(process, name) && round_robin(process)).then(|| Self { process, name: name.to_owned() })
    }
}

fn is_called(process: i32, name: &str) -> bool {
    let called = std::fs::read_to_string(format!("/proc/{process}/comm"));
    process > 0 && called.is_ok_and(|called| called.trim_end() == name)
}

impl Drop for GoingFirst {
    fn drop(&mut self) {
        if is_called(self.process, &self.name) {
            schedule(self.process, libc::SCHED_OTHER, 0);
        }
    }
}

/// The lowest real-time priority; what the thread starts is ordinary again.
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
    use super::*;

    /// Scheduling policy of this thread: the 41st field of its line, 2 for round robin.
    fn policy() -> String {
        policy_in("/proc/thread-self/stat")
    }

    fn policy_in(file: &str) -> String {
        let line = std::fs::read_to_string(file).unwrap();
        let fields = line.rsplit_once(") ").unwrap().1;
        fields.split(' ').nth(38).unwrap().to_owned()
    }

    #[test]
    fn a_thread_goes_first_where_it_may_and_what_it_starts_does_not() {
        let (went, started) = std::thread::spawn(|| {
            let went = go_first();
            assert_eq!(policy(), if went { "2" } else { "0" });
            (went, std::thread::spawn(policy).join().unwrap())
        })
        .join()
        .unwrap();
        assert_eq!(started, "0", "went first: {went}");
        assert_eq!(policy(), "0");
        let others = [(i32::MAX, "none"), (1, "not the name of the first")];
        assert!(others.into_iter().all(|(process, name)| GoingFirst::new(process, name).is_none()));
    }

    #[test]
    fn another_process_goes_first_only_as_long_as_it_is_asked_to() {
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let stat = format!("/proc/{}/stat", other.id());
        let going = GoingFirst::new(i32::try_from(other.id()).unwrap(), "sleep");
        let meanwhile = policy_in(&stat);
        let went = going.is_some();
        drop(going);
        let afterwards = policy_in(&stat);
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!((meanwhile.as_str(), afterwards.as_str()), (if went { "2" } else { "0" }, "0"));
    }
}
