//! Ranks together measure the same as one process with as many sessions.

use std::time::Duration;

use mindful_analyze::analyze;
use mindful_analyze::compare::{self, Question, RunValue, Verdict};
use mindful_analyze::compare::{ComparedFigure, run_value};
use mindful_core::record::run::{MergedSlice, Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Summary};
use mindful_ranks::{merge_folders, store_merged};

use crate::job::{Given, Job};

fn figures(summary: &Summary) -> String {
    format!("{:#?}", Summary { id: String::new(), started_at: String::new(), ..summary.clone() })
}

#[test]
fn four_ranks_of_eight_do_the_work_of_one_of_thirty_two() {
    let job = Job::new();
    let came = job.ranks(4, &[(2, &[], "1"), (0, &[], "1"), (3, &[], "1"), (1, &[], "1")]);
    let merged = came[1].clone().unwrap().unwrap();
    assert!([0, 2, 3].into_iter().all(|rank| came[rank].as_ref().unwrap().is_none()), "one rank reports");
    assert!(job.rendezvous.is_empty(), "nothing is left where they met");
    let alone = Job::new().alone(&[]);
    let (one, four) = (&alone.analysis.summary.steps[0], &merged.steps[0]);
    assert_eq!((one.sessions, one.ops.select.clone()), (four.sessions, four.ops.select.clone()));
    assert_eq!((&one.ops.update, one.blocks_visited_per_s), (&four.ops.update, four.blocks_visited_per_s));
    let stored = job.store(0).read(&merged.id).unwrap();
    assert_eq!(stored.steps[0].head.placements, alone.run.steps[0].head.placements, "the same keys: the same draws");
    assert_eq!(stored.steps[0].head.workload, alone.run.steps[0].head.workload);
    assert_eq!(merged.validity, alone.analysis.summary.validity, "{:?}", merged.findings);
}

#[test]
fn folders_merged_later_give_the_same_figures() {
    let job = Job::new();
    let came = job.ranks(3, &[(0, &[], "1"), (1, &[], "1"), (2, &[], "1")]);
    let merged = came[0].clone().unwrap().unwrap();
    let all = merge_folders([2, 0, 1].map(|rank| job.part(rank)).into()).unwrap();
    let (_, again) = store_merged(&job.store(9), all, true).unwrap();
    assert_eq!(figures(&again.summary), figures(&merged));
    let missing = merge_folders([0, 1].map(|rank| job.part(rank)).into());
    let missing = missing.and_then(|all| store_merged(&job.store(8), all, true)).unwrap_err();
    assert!(missing.to_string().contains("rank 2 is missing"), "{missing}");
    let twice = merge_folders([0, 1, 1, 2].map(|rank| job.part(rank)).into()).unwrap_err();
    assert!(twice.to_string().contains("rank 1 occurs twice"), "{twice}");
}

/// In a long window each of two ranks renews its row and reads another one every ten seconds.
#[test]
fn ranks_send_nothing_in_a_short_window_little_in_a_long_one() {
    // The start is a second or two ahead; the warm-up takes 2 s.
    for (given, before, length, expected) in [(&[][..], 5, 7, 0..=0), (&[("duration", "150s")], 20, 100, 30..=44)] {
        let job = Job::new();
        let count = || {
            while job.store(0).list().unwrap().is_empty() {
                job.pause(Duration::from_millis(100));
            }
            job.pause(Duration::from_secs(before));
            let before = job.rendezvous.traffic().0;
            job.pause(Duration::from_secs(length));
            job.rendezvous.traffic().0 - before
        };
        let (requests, came) = job.ranks_next_to(count, 0..2, 2, given);
        assert!(came.iter().all(Result::is_ok) && expected.contains(&requests), "{given:?}: {requests}");
    }
}

#[test]
fn fifty_ranks_are_one_run_and_questions_grow_with_ranks() {
    let calls = [25, 50].map(|of| {
        let job = Job::new();
        let given = [("sessions", "100"), ("warmup", "0s"), ("duration", "2s"), ("null_spread", "0.5")];
        let ranks: Vec<(u32, Given<'_>, &str)> = (0..of).map(|rank| (rank, &given[..], "1")).collect();
        let mut came = job.ranks(of, &ranks).into_iter().map(Result::unwrap);
        let merged = came.next().flatten().unwrap();
        assert!(came.all(|came| came.is_none()) && job.rendezvous.is_empty());
        let alone = Job::new().alone(&given);
        let (one, all) = (&alone.analysis.summary.steps[0], &merged.steps[0]);
        assert_eq!((all.sessions, all.ranks.len()), (Some(100), of as usize));
        assert_eq!((&one.ops.select, &one.ops.update), (&all.ops.select, &all.ops.update), "counts are added");
        let sessions = |step: &StepRecord| -> Vec<Vec<(u32, u64)>> {
            let sorted = |slice: &MergedSlice| {
                let mut ops: Vec<(u32, u64)> = slice.ops_by_session().collect();
                ops.sort_unstable();
                ops
            };
            step.merged.slices.iter().map(sorted).collect()
        };
        let stored = job.store(0).read(&merged.id).unwrap();
        assert_eq!(sessions(&stored.steps[0]), sessions(&alone.run.steps[0]), "each session's own");
        job.rendezvous.traffic().0
    });
    assert!(calls[1] < calls[0] * 5 / 2, "{calls:?}");
}

#[test]
fn compared_with_one_process_four_ranks_show_no_difference() {
    let value =
        |run: &Run| run_value(ComparedFigure::Throughput, run, (&run.steps[0], &analyze(run).steps[0])).unwrap();
    let sides = ["1", "2", "3", "4"].map(|seed| {
        let given = [("seed", seed), ("null_spread", "0.5")];
        let job = Job::new();
        let came = job.ranks(4, &[0, 1, 2, 3].map(|rank| (rank, &given[..], "1")));
        let merged = came.into_iter().find_map(Result::unwrap).unwrap();
        let alone = Job::new().alone(&given);
        let run = job.store(0).read(&merged.id).unwrap();
        (value(&alone.run), value(&run))
    });
    let (one, four): (Vec<RunValue>, Vec<RunValue>) = sides.into_iter().unzip();
    let answer = compare::compare_runs(&one, &four, &Question::default()).unwrap();
    assert_eq!(answer.verdict, Verdict::NoMeaningfulDifference, "{answer:?}");
}

#[test]
fn findings_of_another_rank_are_in_the_merged_run() {
    let job = Job::new();
    for came in job.ranks(2, &[(0, &[], "1"), (1, &[], "1")]) {
        came.unwrap();
    }
    let mut parts: Vec<Run> = [0, 1].map(|rank| job.part(rank)).into();
    parts[1].findings = vec![codes::CLOCK_STEP.finding("A clock was set.", "by 300 ms")];
    let all = merge_folders(parts).unwrap();
    let (run, analysis) = store_merged(&job.store(9), all, true).unwrap();
    let expected =
        |finding: &&Finding| finding.code == "clock-step" && finding.evidence == "rank 1 on host-1: by 300 ms";
    assert_eq!(analysis.summary.findings.iter().filter(expected).count(), 1, "{:?}", analysis.summary.findings);
    assert!(run.steps[0].ranks.iter().all(|rank| rank.findings.is_empty()), "reported once");
}
