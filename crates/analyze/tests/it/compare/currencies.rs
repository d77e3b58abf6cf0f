//! Sides with prices in several currencies.

use mindful_analyze::analyze;
use mindful_analyze::compare::{NamedSide, OrderedBy, Ranking};
use mindful_core::plan::Price;

use crate::made::Made;

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
