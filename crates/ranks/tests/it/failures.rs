//! A rank that dies, fails or is cut off ends the run of all soon, and all name it.

use std::time::Duration;

use mindful_core::ErrorKind;
use mindful_core::contract::clock::Time;
use mindful_ranks::LEASE;

use crate::job::{Given, JOINED, Job};

const LONG: Given<'_> = &[("duration", "600s")];
const READY: &str = r#""stage":"ready""#;

/// Before it is ready the others wait for it; afterwards they notice its end after the window, or within a long one.
#[test]
fn a_rank_that_dies_ends_all_soon() {
    let minute = Duration::from_mins(1);
    // The window ends 17 s after all have joined.
    for (dead, given, last, lease, kind, renewed, seconds) in [
        (2, &[][..], JOINED, LEASE, ErrorKind::Target, 8, 12),
        (2, &[], READY, LEASE, ErrorKind::Run, 8, 26),
        // In the merge: its announced data is missing.
        (2, &[], r#""stage":"measured","chunks":2"#, minute, ErrorKind::Run, 8, 36),
        (0, &[], r#""stage":"gathered""#, LEASE * 2, ErrorKind::Target, 8, 30),
        // The others have published their parts, and wait for the first rank.
        (0, &[], READY, Duration::from_secs(25), ErrorKind::Run, 8, 40),
        (0, LONG, READY, LEASE * 2, ErrorKind::Run, 30, 60),
        (2, LONG, READY, LEASE, ErrorKind::Run, 30, 60),
    ] {
        let job = Job::new();
        let merging = (dead, last, given) == (0, READY, &[]);
        let die = || {
            job.die(dead, last, lease);
            if merging {
                job.pause(Duration::from_secs(20));
                assert!(job.rendezvous.traffic().1 > 0, "parts wait to be taken");
            }
        };
        let ((), came) = job.ranks_next_to(die, (0..3).filter(|number| *number != dead), 3, given);
        for came in came {
            let error = came.unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            let gone = format!("rank {dead} on host-x is gone: it did not renew its row for {renewed} s");
            assert!(error.to_string().starts_with(&gone), "{error}");
        }
        assert!(job.rendezvous.is_empty(), "{dead} {last}");
        assert!(job.clock.elapsed() < Duration::from_secs(seconds), "{last}: {:?}", job.clock.elapsed());
    }
}

#[test]
fn a_session_that_fails_on_one_rank_ends_all_with_its_error() {
    for given in [&[][..], LONG] {
        let job = Job::new();
        let fails = [given, &[("null_fail", "20@3s")]].concat();
        for (rank, came) in job.ranks(4, &[0, 1, 2, 3].map(|rank| (rank, &*fails, "1"))).into_iter().enumerate() {
            let error = came.unwrap_err();
            let prefix = if rank == 2 { "session 21: " } else { "rank 2 on host-2: session 21: " };
            assert_eq!(error.kind, ErrorKind::Run);
            assert!(error.to_string().starts_with(prefix), "{rank}: {error}");
        }
        assert!(job.rendezvous.is_empty() && job.clock.elapsed() < Duration::from_mins(1), "{:?}", job.clock.elapsed());
    }
}

#[test]
fn a_rank_that_is_cut_off_ends_and_so_do_the_others() {
    for cut_off in 0..2 {
        let mut job = Job::new();
        job.cut_off = Some((cut_off, Duration::from_secs(20)));
        for (rank, came) in (0..).zip(job.ranks(2, &[(0, LONG, "1"), (1, LONG, "1")])) {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            let message =
                if rank == cut_off { "the place where ranks meet has not answered for 30 s" } else { "is gone" };
            assert!(error.to_string().contains(message), "{rank}: {error}");
        }
        assert!(job.clock.elapsed() < Duration::from_secs(90), "{:?}", job.clock.elapsed());
    }
}
