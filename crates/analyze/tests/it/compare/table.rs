//! Many runs in one table.

use mindful_analyze::analyze;
use mindful_analyze::compare::{OrderedBy, RunTable, TableRow, table};

use crate::made::Made;

/// The table of runs, each by its tag, its number and the latency of its operations.
fn table_of(runs: &[(String, usize, u64)]) -> RunTable {
    let by = OrderedBy::parse("reads").unwrap();
    let row = |(tag, number, latency_us): &(String, usize, u64)| {
        let mut run = Made { latency_us: *latency_us, seconds: 3, ..Made::default() }.run();
        run.head.plan.tag = Some(tag.clone());
        run.head.id = format!("20261121-013542-{tag}-{number}");
        TableRow::from_run(&run.head.id, &run, &analyze(&run), by)
    };
    table(runs.iter().map(row).collect(), by, 0.03).unwrap()
}

#[test]
fn a_group_of_few_sides_has_ranks_and_one_of_many_none() {
    let sides = |count: usize| {
        let of_side = |side: usize| [0, 1].map(|number| (format!("tag-{side}"), number, 6_400));
        (0..count).flat_map(of_side).collect::<Vec<_>>()
    };
    let few = table_of(&sides(40));
    assert_eq!((few.sides.groups.len(), few.not_ranked.len()), (1, 0));
    assert!(few.sides.groups[0].sides.iter().all(|side| side.rank == Some([1, 40])));
    let many = table_of(&sides(41));
    assert_eq!((many.sides.groups.len(), many.runs[0].sides.len()), (0, 82));
    assert_eq!(many.not_ranked.iter().map(|(_, sides)| *sides).collect::<Vec<_>>(), [41]);
}

#[test]
fn a_tag_with_one_run_is_a_row_and_no_side() {
    let runs = [("slow", 0, 12_800), ("slow", 1, 12_900), ("fast", 0, 6_400), ("fast", 1, 6_500), ("alone", 0, 3_200)];
    let table = table_of(&runs.map(|(tag, number, us)| (tag.to_owned(), number, us)));
    let names: Vec<_> = table.sides.groups[0].sides.iter().map(|side| side.name.as_str()).collect();
    assert_eq!(names, ["fast", "slow"]);
    assert!(table.runs[0].sides[0].name.contains("alone"), "{:?}", table.runs[0].sides);
}
