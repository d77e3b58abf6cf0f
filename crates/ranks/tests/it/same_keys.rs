//! Ranks visit the same keys as one process with as many sessions: each operation of each session, in its order.

use mindful_null::{Null, SimulatedClock, Visits};

use crate::job::{Given, Job};

/// All settings that decide keys, kinds, schemas and pauses, each at least once.
const PLANS: [Given<'_>; 4] = [
    &[("schemas", "4")],
    &[("schemas", "5"), ("update_pct", "33"), ("update_work_unit", "2"), ("seed", "7")],
    &[("schemas", "8"), ("hot_spot_size", "1MiB"), ("hot_spot_share", "30"), ("hot_schema", "20"), ("scan_pct", "10")],
    &[("schemas", "3"), ("skew", "zipf:0.9"), ("think_time", "1ms..9ms"), ("update_pct", "10")],
];

#[test]
fn four_ranks_of_eight_visit_the_same_keys_as_one_of_thirty_two() {
    for plan in PLANS {
        let base: Given<'_> = &[
            ("ops", "40"),
            ("scan_table", "1MiB"),
            ("work_unit", "4"),
            ("sessions", "32"),
            ("update_pct", "0"),
            ("null_latency", "10ms"),
        ];
        let given = [base, plan].concat();
        let [one, four] = [1, 4].map(|of| {
            let (clock, visits) = (SimulatedClock::default(), Visits::default());
            let job = Job::on(clock.clone(), Null::recorded(clock, Visits::clone(&visits)));
            job.processes(of, &given).into_iter().for_each(|process| drop(process.unwrap()));
            std::mem::take(&mut *visits.lock().unwrap())
        });
        assert_eq!(one.len(), 32);
        assert!(one.values().all(|ops| ops.len() == 40), "each did its work");
        assert_eq!(one, four, "{plan:?}");
    }
}
