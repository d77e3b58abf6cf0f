//! Many runs in one table, and sides with prices in several currencies.

use mindful_analyze::analyze;
use mindful_analyze::compare::{NamedSide, OrderedBy, Ranking, RunTable, TableRow, table};
use mindful_core::plan::Price;
use mindful_core::record::run::Run;

use crate::made::Made;

/// A run of these steps, one after the other.
fn run_of(id: &str, steps: impl IntoIterator<Item = Made>) -> Run {
    let mut runs = steps.into_iter().map(|made| made.run());
    let mut run = runs.next().unwrap();
    run.steps.extend(runs.flat_map(|other| other.steps));
    id.clone_into(&mut run.head.id);
    run
}

fn table_of(runs: impl IntoIterator<Item = Run>) -> RunTable {
    let by = OrderedBy::parse("reads").unwrap();
    let rows: Vec<_> = runs.into_iter().map(|run| TableRow::from_run(&run.head.id, &run, &analyze(&run), by)).collect();
    table(&rows, by, 0.03).unwrap()
}

fn tagged(tag: &str, number: usize, latency_us: u64) -> Run {
    let mut run = run_of(&format!("{tag}-{number}"), [Made { latency_us, seconds: 3, ..Made::default() }]);
    run.head.plan.tag = Some(tag.to_owned());
    run
}

#[test]
fn a_group_of_few_sides_has_ranks_and_one_of_many_none() {
    let sides =
        |count: usize| (0..count).flat_map(|side| [0, 1].map(|number| tagged(&format!("tag-{side}"), number, 6_400)));
    let few = table_of(sides(40));
    assert_eq!((few.sides.groups.len(), few.not_ranked.len()), (1, 0));
    assert!(few.sides.groups[0].sides.iter().all(|side| side.rank == Some([1, 40])));
    let many = table_of(sides(41));
    assert_eq!((many.sides.groups.len(), many.runs[0].sides.len()), (0, 82));
    assert_eq!(many.not_ranked.iter().map(|(_, sides)| *sides).collect::<Vec<_>>(), [41]);
}

#[test]
fn a_tag_with_one_run_is_a_row_and_no_side() {
    let runs = [("slow", 0, 12_800), ("slow", 1, 12_900), ("fast", 0, 6_400), ("fast", 1, 6_500), ("alone", 0, 3_200)];
    let table = table_of(runs.map(|(tag, number, us)| tagged(tag, number, us)));
    let names: Vec<_> = table.sides.groups[0].sides.iter().map(|side| side.name.as_str()).collect();
    assert_eq!(names, ["fast", "slow"]);
    assert!(table.runs[0].sides[0].name.contains("alone"), "{:?}", table.runs[0].sides);
}

#[test]
fn a_run_that_repeats_a_step_differs_in_no_fact() {
    let of = |id, sessions: &[u32]| run_of(id, sessions.iter().map(|n| Made { sessions: *n, ..Made::default() }));
    let table = table_of([of("0", &[1, 2]), of("1", &[1, 2]), of("2", &[1, 2, 2])]);
    for side in &table.runs[0].sides {
        assert!(side.differs.is_empty(), "{}: {:?}", side.name, side.differs);
    }
    assert_eq!(table.runs[0].sides.len(), 3);
}

#[test]
fn sweeps_of_different_work_are_in_different_groups() {
    let sweep = |id, work_unit: u64| {
        let mut run = run_of(id, [1, 2].map(|sessions| Made { sessions, work_unit, ..Made::default() }));
        for (step, sessions) in run.steps.iter_mut().zip(["1", "2"]) {
            step.head.point.values.insert("sessions".to_owned(), sessions.to_owned());
        }
        run
    };
    let table = table_of([sweep("single", 1), sweep("again", 1), sweep("large", 64)]);
    let sizes: Vec<usize> = table.runs.iter().map(|group| group.sides.len()).collect();
    assert_eq!(sizes, [2, 1]);
}

/// A side of two runs, each with one of `prices`.
fn side(name: &str, latency_us: u64, prices: [&str; 2]) -> NamedSide {
    let run = |(number, price): (usize, &str)| {
        let mut run = run_of(&format!("{name}-{number}"), [Made { latency_us, ..Made::default() }]);
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
