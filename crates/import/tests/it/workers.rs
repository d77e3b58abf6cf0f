//! Tables of workers.

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::Counter;

use crate::measured::{grew, read, runs};

#[test]
fn workers_by_rate_are_a_ladder() {
    let steps = read("RAC_LIO.csv", "Num_concurrent_workers,Oracle_Logical_IOPS\n1,0.75\n2,1.5  \n4,3.2\n").unwrap();
    assert_eq!(steps.iter().map(|step| step.sessions).collect::<Vec<_>>(), [Some(1), Some(2), Some(4)]);
    assert_eq!(grew(&steps[1].events, Counter::LogicalReads), Some(1.5e6 * 60.0));
}

#[test]
fn a_billion_sessions_are_refused() {
    let text = "Num_concurrent_workers,Oracle_Logical_IOPS\n1999999996,6\n4,3.2\n";
    let sessions: Vec<_> = runs(read("LIO.csv", text).unwrap())
        .iter()
        .flat_map(|run| &run.events)
        .filter_map(|event| match event {
            Event::Step(head) => Some((head.sessions, head.placements.len())),
            _ => None,
        })
        .collect();
    assert_eq!(sessions, [(Some(4), 0), (None, 0)], "a list of so many would take all memory");
}

#[test]
fn an_unreadable_rate_is_unknown_and_a_decimal_comma_damages() {
    let steps = read("LIO.csv", "Num_concurrent_workers,Oracle_Logical_IOPS\n1,####\n2,1.5\n3,0,75\n").unwrap();
    let rates: Vec<_> = steps.iter().map(|step| (step.sessions, grew(&step.events, Counter::LogicalReads))).collect();
    assert_eq!(rates, [(Some(1), None), (Some(2), Some(9e7))]);
    assert!(steps[0].findings.iter().any(|finding| finding.evidence == "2 rows"), "{:?}", steps[0].findings);
}
