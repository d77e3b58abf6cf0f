//! A rank that dies, fails or is cut off ends the run of all soon, and all name it.

use std::time::Duration;

use mindful_core::ErrorKind;
use mindful_core::contract::clock::Time;
use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};
use mindful_ranks::LEASE;

use crate::job::{Came, Given, JOINED, Job, died};

#[test]
fn a_rank_that_dies_ends_all_soon() {
    // Before it is ready the others wait for it; afterwards they notice its end after the window.
    let long = Duration::from_mins(1);
    for (last, lease, kind, seconds) in [
        (JOINED, LEASE, ErrorKind::Target, 12),
        (r#""stage":"ready""#, LEASE, ErrorKind::Run, 26),
        // In the merge: its announced data is missing.
        (r#""stage":"measured","chunks":2"#, long, ErrorKind::Run, 36),
    ] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            died(&job.rendezvous, &job.clock, 2, last, lease);
            None
        })];
        for number in 0..2 {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, &[], "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(
                error.to_string().starts_with("rank 2 on host-x is gone: it did not renew its row for 8 s"),
                "{error}"
            );
        }
        assert!(job.rendezvous.is_empty());
        assert!(job.clock.elapsed() < Duration::from_secs(seconds), "{last}: {:?}", job.clock.elapsed());
    }
}

#[test]
fn a_session_that_fails_on_one_rank_ends_all_with_its_error() {
    let job = Job::new();
    let fails: &[(&str, &str)] = &[("null_fail", "20@3s")];
    let came = job.ranks(4, &[(0, fails, "1"), (1, fails, "1"), (2, fails, "1"), (3, fails, "1")]);
    for (rank, came) in came.into_iter().enumerate() {
        let error = came.unwrap_err();
        let prefix = if rank == 2 { "session 21: " } else { "rank 2 on host-2: session 21: " };
        assert_eq!(error.kind, ErrorKind::Run);
        assert!(error.to_string().starts_with(prefix), "{rank}: {error}");
    }
    assert!(job.rendezvous.is_empty());
}

#[test]
fn a_rank_that_dies_in_a_long_window_ends_all_soon() {
    let long: Given<'_> = &[("duration", "600s")];
    let pause = |job: &Job, seconds: i64| job.clock.sleep_unless(job.clock.now_us() + seconds * 1_000_000, &|| false);
    for killed in [0, 2] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            if killed == 0 {
                first_died(&job, r#""stage":"ready""#, LEASE * 2);
            } else {
                died(&job.rendezvous, &job.clock, 2, r#""stage":"ready""#, LEASE);
            }
            None
        })];
        for number in (0..3).filter(|number| *number != killed) {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, long, "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            let gone = format!("rank {killed} on host-x is gone: it did not renew its row for 30 s");
            assert!(error.to_string().starts_with(&gone), "{error}");
        }
        assert!(job.rendezvous.is_empty(), "{killed}");
        assert!(job.clock.elapsed() < Duration::from_mins(1), "{killed}: {:?}", job.clock.elapsed());
    }
    // A failed session is also reported before the end.
    let job = Job::new();
    let fails = [long, &[("null_fail", "20@3s")]].concat();
    for came in job.ranks(2, &[(0, &fails, "1"), (1, &fails, "1")]) {
        assert!(came.unwrap_err().to_string().contains("session 21: "));
    }
    assert!(job.rendezvous.is_empty() && job.clock.elapsed() < Duration::from_mins(1), "{:?}", job.clock.elapsed());
    // Renewals and reads are rare: each rank does one of each in ten seconds.
    let job = Job::new();
    let mut works: Vec<Box<dyn FnOnce() -> u64 + Send + '_>> = vec![Box::new(|| {
        pause(&job, 20);
        let before = job.rendezvous.traffic().0;
        pause(&job, 100);
        job.rendezvous.traffic().0 - before
    })];
    for number in 0..2 {
        let (job, long) = (&job, &[("duration", "150s")]);
        works.push(Box::new(move || job.rank(number, 2, long, "1").map_or(1, |_| 0)));
    }
    let asked = job.all(works);
    assert!(asked[1..] == [0, 0] && (30..=44).contains(&asked[0]), "{asked:?}");
}

/// A first rank that died with `last` in its row, and when all begin; the row is not renewed after its `lease`.
fn first_died(job: &Job, last: &str, lease: Duration) {
    loop {
        let other = job.rendezvous.read_row("job", 1).unwrap().filter(|seen| seen.row.body.contains(JOINED));
        if let Some(other) = other {
            let start_us = job.clock.now_us() + 5_000_000;
            let body = other.row.body.replace(JOINED, &format!("{last},\"start_us\":{start_us}"));
            let row = RankRow { rank: 0, token: "dead".to_owned(), body: body.replace("host-1", "host-x") };
            job.rendezvous.claim_rank("job", &row, lease).unwrap();
            return;
        }
        job.clock.sleep_unless(job.clock.now_us() + 10_000, &|| false);
    }
}

#[test]
fn the_first_rank_may_die_before_all_are_ready_or_merging() {
    // The window ends 17 s after the others have joined: then they have published their parts, and wait for the first
    // rank.
    for (last, lease, kind, seconds) in [
        (r#""stage":"gathered""#, LEASE * 2, ErrorKind::Target, 30),
        (r#""stage":"ready""#, Duration::from_secs(25), ErrorKind::Run, 40),
    ] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            first_died(&job, last, lease);
            if kind == ErrorKind::Run {
                job.clock.sleep_unless(job.clock.now_us() + 20_000_000, &|| false);
                assert!(job.rendezvous.traffic().1 > 0, "parts wait to be taken");
            }
            None
        })];
        for number in 1..3 {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, &[], "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(
                error.to_string().starts_with("rank 0 on host-x is gone: it did not renew its row for 8 s"),
                "{error}"
            );
        }
        assert!(
            job.rendezvous.is_empty() && job.clock.elapsed() < Duration::from_secs(seconds),
            "{:?}",
            job.clock.elapsed()
        );
    }
}

#[test]
fn a_rank_that_is_cut_off_ends_and_so_do_the_others() {
    for cut_off in 0..2 {
        let mut job = Job::new();
        job.cut_off = Some((cut_off, Duration::from_secs(20)));
        let long: Given<'_> = &[("duration", "600s")];
        let came = job.ranks(2, &[(0, long, "1"), (1, long, "1")]);
        for (rank, came) in (0..).zip(came) {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            let message =
                if rank == cut_off { "the place where ranks meet has not answered for 30 s" } else { "is gone" };
            assert!(error.to_string().contains(message), "{rank}: {error}");
        }
        assert!(job.clock.elapsed() < Duration::from_secs(90), "{:?}", job.clock.elapsed());
    }
}
