//! Prints the tables of docs/method-statistics.md on comparisons: false alarms, power, coverage.
//!
//! `cargo run --release -p mindful-analyze --features benchmarks --example compare_rates`

#![expect(clippy::print_stdout, reason = "the tables are its result")]

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use mindful_analyze::compare::{NoiseFloor, Question, RunValue, Verdict, compare_runs, detectable_effect};
use mindful_analyze::stats::autocorrelation;
use mindful_analyze::stats::moment::batch_means;
use mindful_analyze::stats::random::Random;
use synthetic::{Runs, welch};

const REPETITIONS: u32 = 1_500;

fn main() {
    false_alarms();
    power();
    coverage();
    verdicts();
}

/// Share of repetitions in percent for which each of N columns is true.
fn rates<const N: usize>(purpose: &str, mut row: impl FnMut(&mut Random) -> [bool; N]) -> [f64; N] {
    let mut random = Random::new(2026, purpose);
    let mut counts = [0.0; N];
    for _ in 0..REPETITIONS {
        for (count, hit) in counts.iter_mut().zip(row(&mut random)) {
            *count += f64::from(u8::from(hit));
        }
    }
    counts.map(|count| 100.0 * count / f64::from(REPETITIONS))
}

fn line<const N: usize>(head: &str, cells: [f64; N]) {
    println!("| {head} |{}", cells.map(|c| format!(" {c:.1} |")).concat());
}

fn ask() -> Question {
    Question { resamples: 0, ..Question::default() }
}

fn values(side: &[RunValue]) -> Vec<f64> {
    side.iter().map(|run| run.value).collect()
}

fn false_alarms() {
    println!("\nA/A: equal plans called different, %\n");
    println!(
        "| phi | run-to-run CV | Welch on 1-s points | Welch on 30-s batches | Welch on effective points | one run a side with noise floor | Mann-Whitney 5 v 5 | Welch 5 v 5 runs | verdict faster or slower, margin 3 % |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for phi in [0.0, 0.8, 0.95] {
        for between in [0.0, 0.01, 0.015] {
            let setting = Runs { a_side: 5, seconds: 300, within: 0.03, between, phi };
            let cells = rates("false alarms", |random| {
                let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4));
                let floor = NoiseFloor::from_values(&values(&setting.side(random, 1e4)));
                let (x, y) = (&a[0].series, &b[0].series);
                let worth = [1.0 / autocorrelation::time(x), 1.0 / autocorrelation::time(y)];
                let single = Question { noise: floor, ..ask() };
                let one = compare_runs(&a[..1], &b[..1], &single).ok().and_then(|c| c.p_difference);
                let reported = compare_runs(&a, &b, &ask()).ok();
                [
                    welch(x, y, [1.0; 2]) <= 0.05,
                    welch(&batch_means(x, 30), &batch_means(y, 30), [1.0; 2]) <= 0.05,
                    welch(x, y, worth) <= 0.05,
                    one.is_some_and(|p| p <= 0.05),
                    reported.as_ref().and_then(|c| c.p_difference).is_some_and(|p| p <= 0.05),
                    welch(&values(&a), &values(&b), [1.0; 2]) <= 0.05,
                    reported.is_some_and(|c| matches!(c.verdict, Verdict::Faster | Verdict::Slower)),
                ]
            });
            line(&format!("{phi} | {:.1} %", between * 100.0), cells);
        }
    }
}

fn power() {
    println!("\nPower: a difference of the detectable size is found, % (predicted: 80)\n");
    println!("| runs a side | CV 1.5 %: detectable | found | 2.80 CV sqrt(2/k) | found |");
    println!("|---|---|---|---|---|");
    for count in [4_usize, 5, 6, 8, 10, 20] {
        let setting = Runs { a_side: count, seconds: 1, within: 0.0, between: 0.015, phi: 0.0 };
        let effect = detectable_effect(0.015, count as u32).unwrap_or(f64::NAN);
        let plain = 2.80 * 0.015 * (2.0 / count as f64).sqrt();
        let [found, found_plain] = [effect, plain].map(|size| {
            rates("power", |random| {
                let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4 * (1.0 + size)));
                [compare_runs(&a, &b, &ask()).ok().and_then(|c| c.p_difference).is_some_and(|p| p <= 0.05)]
            })[0]
        });
        println!("| {count} | {:.2} % | {found:.1} | {:.2} % | {found_plain:.1} |", effect * 100.0, plain * 100.0);
    }
}

fn coverage() {
    println!("\nCoverage of the interval of the ratio, %\n");
    println!("| runs a side | exact (Mann-Whitney) | its stated confidence | bootstrap BCa |");
    println!("|---|---|---|---|");
    for count in [3, 4, 5, 8, 10, 20] {
        let setting = Runs { a_side: count, seconds: 1, within: 0.0, between: 0.015, phi: 0.0 };
        let question = Question { resamples: 600, ..Question::default() };
        let mut confidence = 0.0;
        let cells = rates("coverage", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1.1e4));
            let reported = compare_runs(&a, &b, &question).ok();
            let interval = reported.as_ref().and_then(|c| c.interval);
            confidence = interval.map_or(f64::NAN, |i| i.confidence);
            [interval, reported.and_then(|c| c.bootstrap)].map(|i| i.is_some_and(|i| i.low <= 1.1 && 1.1 <= i.high))
        });
        println!("| {count} | {:.1} | {:.1} | {:.1} |", cells[0], confidence * 100.0, cells[1]);
    }
}

fn verdicts() {
    println!("\nVerdicts by true difference, five and ten runs a side, CV 1.5 %, margin 3 %, %\n");
    println!("| runs a side | true difference | faster | slower | no meaningful difference | not decided |");
    println!("|---|---|---|---|---|---|");
    for count in [5, 10] {
        for difference in [0.0, 0.01, 0.03, 0.05, 0.07, 0.10] {
            let setting = Runs { a_side: count, seconds: 1, within: 0.0, between: 0.015, phi: 0.0 };
            let cells = rates("verdicts", |random| {
                let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4 * (1.0 + difference)));
                let verdict = compare_runs(&a, &b, &ask()).ok().map(|c| c.verdict);
                [Verdict::Faster, Verdict::Slower, Verdict::NoMeaningfulDifference, Verdict::NotDecided]
                    .map(|v| verdict == Some(v))
            });
            line(&format!("{count} | {:.0} %", difference * 100.0), cells);
        }
    }
}
