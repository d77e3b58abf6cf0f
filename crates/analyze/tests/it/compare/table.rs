//! Many runs in one table, and sides with prices in several currencies.

use mindful_analyze::analyze;
use mindful_analyze::compare::{NamedSide, OrderedBy, Ranking, RunTable, TableRow, table};
use mindful_core::plan::Price;

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
    table(&runs.iter().map(row).collect::<Vec<_>>(), by, 0.03).unwrap()
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

#[test]
fn a_run_that_repeats_a_step_differs_in_no_fact() {
    let by = OrderedBy::parse("reads").unwrap();
    let row = |number: usize, sessions: &[u32]| {
        let mut runs = sessions.iter().map(|sessions| Made { sessions: *sessions, ..Made::default() }.run());
        let mut run = runs.next().unwrap();
        run.steps.extend(runs.flat_map(|other| other.steps));
        run.head.id = format!("20261121-013542-{number}");
        TableRow::from_run(&run.head.id, &run, &analyze(&run), by)
    };
    let table = table(&[row(0, &[1, 2]), row(1, &[1, 2]), row(2, &[1, 2, 2])], by, 0.03).unwrap();
    for side in &table.runs[0].sides {
        assert!(side.differs.is_empty(), "{}: {:?}", side.name, side.differs);
    }
    assert_eq!(table.runs[0].sides.len(), 3);
}

#[test]
fn sweeps_of_different_work_are_in_different_groups() {
    let by = OrderedBy::parse("reads").unwrap();
    let row = |id: &str, work_unit: u64| {
        let step = |sessions: u32| {
            let mut run = Made { sessions, work_unit, ..Made::default() }.run();
            run.steps[0].head.point.values.insert("sessions".to_owned(), sessions.to_string());
            run
        };
        let (mut run, other) = (step(1), step(2));
        run.steps.extend(other.steps);
        run.head.id = id.to_owned();
        TableRow::from_run(id, &run, &analyze(&run), by)
    };
    let table = table(&[row("single", 1), row("again", 1), row("large", 64)], by, 0.03).unwrap();
    let sizes: Vec<usize> = table.runs.iter().map(|group| group.sides.len()).collect();
    assert_eq!(sizes, [2, 1]);
}

/// A side of two runs, each with one of `prices`.
fn side(name: &str, latency_us: u64, prices: [&str; 2]) -> NamedSide {
    let run = |(number, price): (usize, &str)| {
        let mut run = Made { latency_us, ..Made::default() }.run();
        run.head.id = format!("20261121-01354{number}-{name}");
        run.head.plan.price = Some(Price::parse(price).unwrap());
        let analysis = analyze(&run);
        (run, analysis)
    };
    NamedSide { name: name.to_owned(), runs: prices.into_iter().enumerate().map(run).collect(), noise: None }
}

#[test]
fn by_price_sides_in_other_currencies_have_no_rank() {
    let sides = [
        side("dear", 6_400, ["4 EUR"; 2]),
        side("yen", 6_500, ["300 JPY"; 2]),
        side("cheap", 6_600, ["2 EUR"; 2]),
        side("mixed", 6_700, ["2 EUR", "2 USD"]),
    ];
    let ranked = |by| Ranking::from_sides(&sides, by, 0.03, true).unwrap().summary;
    let by_price = ranked(OrderedBy::Price);
    let group = &by_price.groups[0];
    let order: Vec<_> = group.sides.iter().map(|side| (side.name.as_str(), side.no_rank.as_deref())).collect();
    assert_eq!(order[..2], [("cheap", None), ("dear", None)], "{order:?}");
    assert!(order.contains(&("yen", Some("priced in JPY, and the first side in EUR"))), "{order:?}");
    assert!(order.contains(&("mixed", Some("priced in USD, and the first side in EUR"))), "{order:?}");
    let by_reads = ranked(OrderedBy::parse("reads").unwrap());
    assert!(by_reads.groups[0].sides.iter().all(|side| side.rank.is_some()));
}
