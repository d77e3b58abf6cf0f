//! Prints the tables of docs/method-statistics.md on the knee: which model wins, and how near the figures come.
//!
//! `cargo run --release -p mindful-analyze --features benchmarks --example knee_rates`

#![expect(clippy::print_stdout, reason = "the tables are its result")]

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use mindful_analyze::compare::Interval;
use mindful_analyze::knee::{Knee, ModelKind, Search, find};
use mindful_analyze::stats::moment::median;
use mindful_analyze::stats::random::Random;
use mindful_core::result::KneeFigure;
use synthetic::{Curve, LADDERS};

const REPETITIONS: u64 = 200;

fn main() {
    for noise in [0.005, 0.01, 0.02] {
        println!("\nKnee, noise {} % a point, {REPETITIONS} ladders of 1 to 256\n", noise * 100.0);
        println!(
            "| truth | model wins or is shown, % | capped rms | USL rms | R0 C: truth, median, within 10 %, 95 % interval holds | best power | X max within 10 %, interval holds | peak: truth, reported in %, median |"
        );
        println!("|---|---|---|---|---|---|---|---|");
        for curve in &LADDERS {
            row(curve, noise);
        }
    }
}

fn row(curve: &Curve, noise: f64) {
    let ladders = (0..REPETITIONS).map(|seed| curve.ladder(&mut Random::new(seed, "ladder"), noise));
    let knees: Vec<Knee> =
        ladders.filter_map(|points| find(&points, &Search { resamples: 200, ..Search::default() }).ok()).collect();
    let percent =
        |holds: &dyn Fn(&Knee) -> bool| 100.0 * knees.iter().filter(|k| holds(k)).count() as f64 / knees.len() as f64;
    let middle = |figure: &dyn Fn(&Knee) -> Option<f64>| {
        median(&knees.iter().filter_map(figure).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    };
    let rms = |kind: ModelKind| 100.0 * middle(&|k| k.fits.iter().find(|f| f.model.kind() == kind).map(|f| f.rms));
    let near = |reported: Option<f64>, truth: f64| reported.is_some_and(|t| (t / truth - 1.0).abs() <= 0.1);
    let holds = |interval: Option<&Interval>, truth: f64| interval.is_some_and(|i| i.low <= truth && truth <= i.high);
    println!(
        "| {} | {:.0}, {:.0} | {:.1} % | {:.1} % | {:.1}, {:.1}, {:.0} %, {:.0} % | {:.1} | {:.0} %, {:.0} % | {}, {:.0} %, {:.0} |",
        curve.name,
        percent(&|k| k.model == curve.kind),
        percent(&|k| k.model == curve.kind || k.alternative == Some(curve.kind)),
        rms(ModelKind::Capped),
        rms(ModelKind::Usl),
        curve.asymptote,
        middle(&|k| k.asymptote_sessions),
        percent(&|k| near(k.asymptote_sessions, curve.asymptote)),
        percent(&|k| holds(k.intervals.get(&KneeFigure::AsymptoteSessions), curve.asymptote)),
        middle(&|k| k.best_power_sessions),
        percent(&|k| near(Some(k.max_per_s), curve.max_per_s)),
        percent(&|k| holds(k.intervals.get(&KneeFigure::MaxPerS), curve.max_per_s)),
        curve.peak.map_or("none".to_owned(), |p| format!("{p:.0}")),
        percent(&|k| k.peak_sessions.is_some()),
        middle(&|k| k.peak_sessions),
    );
}
