//! Who goes first where more wait for a CPU than there are.
#![expect(unsafe_code, reason = "no safe call sets a scheduling policy; see the SAFETY note")]

/// Lets this thread go before all that share the CPUs fairly, if mindful may (root, CAP_SYS_NICE, RLIMIT_RTPRIO); tells
/// whether it does. For threads that need next to no CPU, but at once: beside a thousand busy processes a fair share of the
/// CPUs is a thousandth, and reading the counters of a boundary took seconds.
pub fn go_first() -> bool {
    round_robin(0)
}

/// The same as [`go_first`] for another process of this host, if it is called `name`: its number may be of another
/// namespace.
pub fn let_go_first(process: i32, name: &str) -> bool {
    let called = std::fs::read_to_string(format!("/proc/{process}/comm"));
    process > 0 && called.is_ok_and(|called| called.trim_end() == name) && round_robin(process)
}

/// The lowest real-time priority; what the thread starts is ordinary again.
fn round_robin(pid: libc::pid_t) -> bool {
    // SAFETY: the type is plain numbers, for which zero is a value.
    let mut lowest: libc::sched_param = unsafe { std::mem::zeroed() };
    lowest.sched_priority = 1;
    // SAFETY: the kernel reads the parameter during the call and keeps no address.
    unsafe { libc::sched_setscheduler(pid, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const lowest) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scheduling policy of this thread: the 41st field of its line, 2 for round robin.
    fn policy() -> String {
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
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
        assert!(!let_go_first(i32::MAX, "none") && !let_go_first(1, "not the name of the first"));
    }
}
