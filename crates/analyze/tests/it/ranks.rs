//! Runs of several ranks are judged by the work of each rank.

use crate::judged::{evidence, limit};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::record::run::{RankRecord, Run};
use mindful_core::result::Validity;

/// A rank of two sessions with a process that used so many cores and a clock that is late by so much.
fn rank(rank: u32, of: u32, cores: f64, behind_ms: i64) -> RankRecord {
    RankRecord {
        rank,
        ranks: of,
        job: "job".into(),
        host: format!("host-{rank}"),
        first_session: 2 * rank,
        sessions: 2,
        clock_offset_us: Some(behind_ms * 1_000),
        clock_within_us: Some(500),
        cpus: Some(2.0),
        cpu_us: (0..=12).map(|boundary| (boundary, f64::from(boundary) * cores * 1e6)).collect(),
        ..RankRecord::default()
    }
}

fn shared(ranks: Vec<RankRecord>) -> Run {
    let mut run = Made { sessions: 2 * ranks.len() as u32, ..Made::default() }.run();
    run.steps[0].ranks = ranks;
    run
}

#[test]
fn client_cpu_is_that_of_all_ranks_and_unknown_without_one() {
    let mut run = shared(vec![rank(0, 3, 0.25, 0), rank(1, 3, 0.5, 0), rank(2, 3, 0.25, 0)]);
    let analysis = analyze(&run);
    let step = &analysis.steps[0].summary;
    assert!((step.cpu.client_cores.unwrap() - 1.0).abs() < 1e-9, "{:?}", step.cpu);
    let shares: f64 = step.ranks.iter().filter_map(|rank| rank.ops_share).sum();
    assert!((shares - 1.0).abs() < 1e-9 && step.ranks[1].start_skew_ms == Some(0.12), "{:?}", step.ranks);
    assert_eq!(analysis.summary.validity, Validity::Valid, "{:?}", analysis.summary.findings);
    run.steps[0].ranks[2].cpu_us.clear();
    assert_eq!(analyze(&run).steps[0].summary.cpu.client_cores, None);
}

#[test]
fn one_full_client_among_idle_ones_is_named_and_limits_the_run() {
    let full = analyze(&shared(vec![rank(0, 3, 0.1, 0), rank(1, 3, 0.2, 0), rank(2, 3, 1.9, 0)]));
    assert_eq!(evidence(&full, "client-bound"), Some("rank 2 on host-2: 1.90 of 2 CPUs that it may use"));
    assert_eq!(limit(&full), Limit::Client);
    let two = analyze(&shared(vec![rank(0, 2, 1.8, 0), rank(1, 2, 1.9, 0)]));
    assert!(evidence(&two, "client-bound").unwrap().ends_with(", and 1 rank more"));
    // Many half-idle ranks together use more CPU than one may, but none of them is full.
    let many = (0..8).map(|number| rank(number, 8, 0.9, 0)).collect();
    assert_eq!(evidence(&analyze(&shared(many)), "client-bound"), None);
}

#[test]
fn a_part_is_never_valid_as_the_whole() {
    let mut run = shared(vec![rank(1, 4, 0.1, 0)]);
    run.steps[0].ranks[0].cpu_us.clear();
    let part = analyze(&run);
    assert_eq!(part.summary.validity, Validity::Suspect);
    assert_eq!(evidence(&part, "part-of-run"), Some("rank 1 of 4 on host-1, 2 sessions"));
    let rank = &part.steps[0].summary.ranks[0];
    assert_eq!((rank.ops_share, rank.start_skew_ms), (None, Some(0.04)));
    assert!((rank.client_cores.unwrap() - 0.02).abs() < 1e-9, "what its own counters say: {rank:?}");
}

#[test]
fn clocks_and_starts_far_apart_are_reported_with_their_ranks() {
    let near = analyze(&shared(vec![rank(0, 2, 0.1, 0), rank(1, 2, 0.1, 1_000)]));
    assert_eq!(evidence(&near, "clocks-apart"), None, "within what the reading is unsure of");
    let apart = analyze(&shared(vec![rank(0, 2, 0.1, 0), rank(1, 2, 0.1, -3_000)]));
    assert_eq!(evidence(&apart, "clocks-apart"), Some("3.00 s between rank 1 on host-1 and rank 0 on host-0"));
    assert_eq!(apart.summary.validity, Validity::Valid, "{:?}", apart.summary.findings);
    let mut late = shared(vec![rank(0, 2, 0.1, 0), rank(1, 2, 0.1, 0)]);
    late.steps[0].unmerged.retain(|(session, report)| *session != 3 || report.index > 0);
    let late = analyze(&late);
    assert!(evidence(&late, "late-start").unwrap().ends_with("of 4 sessions, the last of rank 1 on host-1"));
}
