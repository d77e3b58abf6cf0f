//! Ranks that join late, never, twice, with another plan, or in place of a dead one.

use std::time::Duration;

use mindful_core::contract::clock::Time;
use mindful_core::result::Summary;
use mindful_core::{Error, ErrorKind};
use mindful_ranks::LEASE;

use crate::job::{Came, Given, JOINED, Job, Work};

#[test]
fn a_rank_that_does_not_come_ends_all_with_its_name() {
    let job = Job::new();
    let came = job.ranks(5, &[(0, &[], "1"), (1, &[], "1"), (4, &[], "1")]);
    for came in came {
        let error = came.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(
            error
                .to_string()
                .starts_with("ranks 2, 3 of 5 did not join job job in the memory of this process within 30 s"),
            "{error}"
        );
    }
    assert!(job.rendezvous.is_empty() && job.clock.elapsed() < Duration::from_secs(45), "{:?}", job.clock.elapsed());
    let alone = Job::new();
    let error = alone.ranks(2, &[(1, &[], "1")]).remove(0).unwrap_err().to_string();
    assert!(error.starts_with("rank 0 of 2 did not join"), "{error}");
}

#[test]
fn another_plan_or_version_is_refused_before_anything_runs() {
    let unlike: [(Given<'_>, &str, &str); 3] = [
        (&[("sessions", "64")], "1", "rank 1 on host-1 has another --sessions than rank 0: "),
        (
            &[("null_latency", "1ms"), ("seed", "7")],
            "1",
            "rank 1 on host-1 has another --seed, --null-latency than rank 0: ",
        ),
        (&[], "2", "rank 1 on host-1 has mindful 2, rank 0 has 1"),
    ];
    for (given, version, message) in unlike {
        let job = Job::new();
        for came in job.ranks(3, &[(0, &[], "1"), (1, given, version), (2, &[], "1")]) {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Plan);
            assert!(error.to_string().starts_with(message), "{error}");
        }
        assert!(job.rendezvous.is_empty());
        assert!((0..3).all(|rank| job.store(rank).list().unwrap().is_empty()), "nothing ran");
    }
}

#[test]
fn a_duplicate_rank_is_refused_and_the_others_continue() {
    let job = Job::new();
    let mut came = job.ranks(2, &[(0, &[], "1"), (1, &[], "1"), (1, &[], "1")]);
    let twice = came.iter().position(Result::is_err).unwrap();
    let error = came.remove(twice).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Plan);
    assert!(
        error.to_string().contains("rank 1 of job job exists twice: another process with this number runs on host-1"),
        "{error}"
    );
    assert!(came.into_iter().all(|came| came.is_ok()));
    assert!(job.rendezvous.is_empty());
}

#[test]
fn a_restarted_pod_takes_its_place_until_all_have_joined() {
    // Before the last one has joined, a dead process is replaced as soon as its lease is over. Afterwards the run has
    // lost a rank, even if another process takes its place.
    for late in [true, false] {
        let job = Job::new();
        let restarted = || {
            job.die(2, JOINED, LEASE);
            job.rank(2, 3, &[], "1")
        };
        let last = || {
            job.pause(Duration::from_secs(if late { 12 } else { 0 }));
            job.rank(1, 3, &[], "1")
        };
        let works: Vec<Work<'_, Came>> =
            vec![Box::new(|| job.rank(0, 3, &[], "1")), Box::new(last), Box::new(restarted)];
        let came = job.all(works);
        if late {
            assert!(came.iter().all(Result::is_ok) && job.rendezvous.is_empty(), "{came:?}");
            continue;
        }
        let errors: Vec<Error> = came.into_iter().map(Result::unwrap_err).collect();
        let gone = |error: &Error| error.to_string().starts_with("rank 2 on host-x is gone");
        assert!(errors[..2].iter().all(gone), "{errors:?}");
        assert_eq!(errors[2].kind, ErrorKind::Target, "{}", errors[2]);
    }
}

#[test]
fn two_jobs_in_one_place_do_not_see_each_other() {
    let job = Job::new();
    let mut works: Vec<Work<'_, Came>> = Vec::new();
    for (name, of) in [("one", 2), ("two", 4)] {
        for number in 0..of {
            let job = &job;
            works.push(Box::new(move || job.rank(number, of, &[("job", name)], "1")));
        }
    }
    let came: Vec<Option<Summary>> = job.all(works).into_iter().map(Result::unwrap).collect();
    let reports: Vec<&Summary> = came.iter().flatten().collect();
    let ranks: Vec<usize> = reports.iter().map(|summary| summary.steps[0].ranks.len()).collect();
    assert_eq!(ranks, [2, 4], "each its own");
    assert_eq!(reports[0].steps[0].ops.select, reports[1].steps[0].ops.select, "the same work, however it is shared");
    assert!(job.rendezvous.is_empty());
}
