//! A run of two ranks, in each form of a report.

use crate::forms::{on_one_line, page, text, written};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::record::run::{RankRecord, Run};
use mindful_report::export::json;
use mindful_report::{Detail, Style};

fn rank(rank: u32) -> RankRecord {
    RankRecord {
        rank,
        ranks: 2,
        job: "job".into(),
        host: format!("host-{rank}"),
        first_session: 2 * rank,
        sessions: 2,
        clock_offset_us: Some(i64::from(rank) * 12_000),
        clock_within_us: Some(300),
        cpus: Some(2.0),
        cpu_us: (0..=12).map(|boundary| (boundary, f64::from(boundary * (rank + 1)) * 1e5)).collect(),
        ..RankRecord::default()
    }
}

fn shared() -> Run {
    let mut run = Made::default().run();
    run.steps[0].ranks = vec![rank(0), rank(1)];
    run
}

fn report_of(run: &Run, detail: Detail) -> String {
    text(run, detail, &Style::default())
}

#[test]
fn the_ranks_of_a_run_are_reported_in_each_form() {
    let run = shared();
    let brief = "2 ranks on 2 hosts, 50 % to 50 % of the operations each, client CPU at most 0.20 of 2 cores on rank 1, \
                 start skew 0.12 ms, hosts' clocks 12.0 ms apart";
    let short = on_one_line(&report_of(&run, Detail::Short));
    assert!(short.contains(brief) && !short.contains("host-1"), "{short}");
    let full = on_one_line(&report_of(&run, Detail::Full));
    assert!(full.contains(brief) && full.contains("1 host-1 2 50 % 0.20 of 2 cores 0.12 12.0 +-0.30"), "{full}");
    let analysis = analyze(&run);
    let written = written(&run);
    assert!(written.lines().any(|line| line.starts_with("| 1 ") && line.contains("0.20 of 2 cores")), "{written}");
    assert!(page(&run).contains("0.20 of 2 cores"));
    let summary: serde_json::Value = serde_json::from_str(&json::summary(&analysis.summary)).unwrap();
    let second = &summary["steps"][0]["ranks"][1];
    assert_eq!((second["host"].as_str(), second["sessions"].as_u64()), (Some("host-1"), Some(2)));
    assert_eq!((second["ops_share"].as_f64(), second["clock_offset_ms"].as_f64()), (Some(0.5), Some(12.0)));
    assert!(!report_of(&Made::default().run(), Detail::Full).contains("ranks on"), "one process is no rank");
}

#[test]
fn the_part_of_a_rank_says_that_it_is_one() {
    let mut run = Made { sessions: 2, ..Made::default() }.run();
    run.steps[0].ranks = vec![RankRecord { cpus: None, cpu_us: Vec::new(), ..rank(1) }];
    let part = report_of(&run, Detail::Short);
    assert!(part.starts_with("SUSPECT") && part.contains("rank 1 of 2, on host-1: 2 sessions of the run"), "{part}");
}
