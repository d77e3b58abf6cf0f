//! Prints the tables of docs/method-statistics.md on ranks of sides and on types of machines.
//!
//! `cargo run --release -p mindful-analyze --features benchmarks --example rank_rates`

#![expect(clippy::print_stdout, reason = "the tables are its result")]

use mindful_analyze::compare::{
    Question, Ranks, RunValue, SideValues, Verdict, compare_runs, machine_spread, runs_to_rank,
};
use mindful_analyze::stats::random::Random;

const SETS: usize = 1_000;
const VARIATION: f64 = 0.015;

fn main() {
    family_wise_errors();
    runs_to_see();
    agreement();
    types_of_machines();
}

fn ask(margin: f64) -> Question {
    Question { margin, resamples: 0, ..Question::default() }
}

fn side(random: &mut Random, runs: usize, level: f64, variation: f64) -> SideValues {
    let run = |_| RunValue::from_value(level * (variation * random.normal()).exp());
    SideValues { runs: (0..runs).map(run).collect(), noise: None }
}

fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of as f64
}

fn family_wise_errors() {
    println!("\nSets of equal sides in which two are told apart, %, margin 0\n");
    println!("| sides | 4 runs | 5 runs | 8 runs | 4 runs, deviations 1 and 3 % | 8 runs, deviations 1 and 3 % |");
    println!("|---|---|---|---|---|---|");
    for count in [3, 4, 6, 8, 10, 12] {
        let cells = [(4, false), (5, false), (8, false), (4, true), (8, true)].map(|(runs, unequal)| {
            let mut random = Random::new(2026, "family-wise errors");
            let differs = |_: &usize| {
                let variation = |at: usize| if unequal { [0.01, 0.03][at % 2] } else { VARIATION };
                let sides: Vec<_> = (0..count).map(|at| side(&mut random, runs, 1e4, variation(at))).collect();
                let ranks = Ranks::from_sides(&sides, &ask(0.0)).map(|ranks| ranks.ranks).unwrap_or_default();
                ranks.iter().any(|rank| *rank != [1, count as u32])
            };
            percent((0..SETS).filter(differs).count(), SETS)
        });
        println!("| {count} |{}", cells.map(|cell| format!(" {cell:.1} |")).concat());
    }
}

fn runs_to_see() {
    println!("\nRuns a side to see a difference in four of five cases, CV 1.5 %, margin 3 %; found, %\n");
    println!("| sides | 5 % | found | 10 % | found | 20 % | found |");
    println!("|---|---|---|---|---|---|---|");
    for count in 2..=12 {
        let cells = [0.05, 0.1, 0.2].map(|difference| {
            let runs = runs_to_rank(VARIATION, difference, 0.03, count).unwrap_or(0) as usize;
            let mut random = Random::new(2026, "runs to see");
            let sets = SETS / 2;
            let seen = |_: &usize| {
                let level = |at: usize| if at == 0 { 1e4 * (1.0 + difference) } else { 1e4 };
                let sides: Vec<_> = (0..count).map(|at| side(&mut random, runs, level(at), VARIATION)).collect();
                Ranks::from_sides(&sides, &ask(0.03)).is_ok_and(|ranks| ranks.is_better(0, 1))
            };
            format!(" {runs} | {:.0} |", percent((0..sets).filter(seen).count(), sets))
        });
        println!("| {count} |{}", cells.concat());
    }
}

fn agreement() {
    println!("\nVerdicts on two sides alone and among others, %, 5 runs, CV 1.5 %, margin 3 %\n");
    println!("| sides | true difference | faster alone | faster among others | told apart among others alone |");
    println!("|---|---|---|---|---|");
    for count in [3, 6, 12] {
        for difference in [0.0, 0.05, 0.07, 0.1] {
            let mut random = Random::new(2026, "agreement");
            let mut counts = [0; 3];
            for _ in 0..SETS {
                let level = |at: usize| if at == 1 { 1e4 * (1.0 + difference) } else { 1e4 };
                let sides: Vec<_> = (0..count).map(|at| side(&mut random, 5, level(at), VARIATION)).collect();
                let alone = compare_runs(&sides[0].runs, &sides[1].runs, &ask(0.03));
                let alone = alone.is_ok_and(|compared| compared.verdict == Verdict::Faster);
                let among = Ranks::from_sides(&sides, &ask(0.03)).is_ok_and(|ranks| ranks.is_better(1, 0));
                for (count, hit) in counts.iter_mut().zip([alone, among, among && !alone]) {
                    *count += usize::from(hit);
                }
            }
            let cells = counts.map(|hits| format!(" {:.1} |", percent(hits, SETS)));
            println!("| {count} | {:.0} % |{}", difference * 100.0, cells.concat());
        }
    }
}

/// Runs of several machines of one type, with the third host at `odd` of its level.
fn fleet(random: &mut Random, machines: usize, between: f64, level: f64, odd: f64) -> Vec<RunValue> {
    let mut all = Vec::new();
    for number in 0..machines {
        let level = level * (between * random.normal()).exp() * if number == 2 { odd } else { 1.0 };
        let run = |_| RunValue {
            machine: Some(format!("host-{number}")),
            ..RunValue::from_value(level * (VARIATION * random.normal()).exp())
        };
        all.extend((0..4).map(run));
    }
    all
}

fn types_of_machines() {
    println!("\nTypes of machines, 8 % between machines, 1.5 % between 4 runs of one; told apart, %, margin 0\n");
    println!("| machines | equal types | the runs as if of one machine | 20 % apart | 50 % apart |");
    println!("|---|---|---|---|---|");
    for (a, b) in [(2, 2), (3, 1), (3, 3), (5, 3), (5, 5), (8, 8)] {
        let rate = |difference: f64, pooled: bool| {
            let mut random = Random::new(2026, "types of machines");
            let apart = |_: &usize| {
                let (mut one, mut other) =
                    (fleet(&mut random, a, 0.08, 1e4, 1.0), fleet(&mut random, b, 0.08, 1e4 * (1.0 + difference), 1.0));
                if pooled {
                    one.iter_mut().chain(&mut other).for_each(|run| run.machine = None);
                }
                let compared = compare_runs(&one, &other, &ask(0.0)).map(|compared| compared.verdict);
                compared.is_ok_and(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
            };
            percent((0..SETS).filter(apart).count(), SETS)
        };
        let cells = [rate(0.0, false), rate(0.0, true), rate(0.2, false), rate(0.5, false)];
        println!("| {a} and {b} |{}", cells.map(|cell| format!(" {cell:.1} |")).concat());
    }
    println!("\nA machine named as unlike the others, %, margin 3 %\n");
    println!("| machines | between machines | none is | one at 0.8 | one at 0.6 |");
    println!("|---|---|---|---|---|");
    for (machines, between) in [(3, 0.01), (3, 0.08), (5, 0.01), (5, 0.08), (8, 0.08)] {
        let cells = [1.0, 0.8, 0.6].map(|odd| {
            let mut random = Random::new(2026, "outliers");
            let named = |_: &usize| {
                let runs = fleet(&mut random, machines, between, 1e4, odd);
                let outlier = machine_spread(&runs, 0.03).and_then(|spread| spread.outlier);
                outlier.is_some_and(|outlier| odd > 0.99 || outlier.machine == "host-2")
            };
            percent((0..SETS).filter(named).count(), SETS)
        });
        println!("| {machines} | {:.0} % |{}", between * 100.0, cells.map(|cell| format!(" {cell:.1} |")).concat());
    }
}
