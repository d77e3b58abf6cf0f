//! Prints the tables of docs/method-statistics.md on steady state: false alarms and detections on synthetic signals.
//!
//! `cargo run --release -p mindful-analyze --features benchmarks --example steady_rates`

#![expect(clippy::print_stdout, reason = "the tables are its result")]

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use mindful_analyze::stats::random::Random;
use mindful_analyze::steady::looks::Looks;
use mindful_analyze::steady::{
    Assessment, Criteria, Movement, Reason, Signals, assess, changes, drift, movement, mser5, period, shape,
};
use synthetic::Signal;

const REPETITIONS: u32 = 200;

fn main() {
    if std::env::args().nth(1).is_some_and(|part| part == "movements") {
        return movements();
    }
    pieces();
    verdicts();
    warmups();
    sequential();
    movements();
}

/// Share of windows that are reported as moved: with noise only, and with a ramp of 20 % over the window.
fn movements() {
    println!("\nWindows reported to have moved, %\n");
    println!(
        "| window, s | noise | phi | level: reported | level: suspect | ramp 20 %: reported | ramp 20 %: suspect |"
    );
    println!("|---|---|---|---|---|---|---|");
    for seconds in [10, 30, 60, 300] {
        for (deviation, phi) in [0.015, 0.03, 0.06].into_iter().flat_map(|d| [0.0, 0.8, 0.95].map(|phi| (d, phi))) {
            let reported = |ramp: f64| {
                let mut random = Random::new(2026, "moved");
                let (mut reported, mut suspect) = (0, 0);
                for _ in 0..10 * REPETITIONS {
                    let level = Signal::Level.series_of(&mut random, phi, seconds, deviation);
                    let rise = |t: usize| 1.0 + ramp * (t as f64 / seconds as f64 - 0.5);
                    let series: Vec<f64> = level.iter().enumerate().map(|(t, v)| v * rise(t)).collect();
                    let moved = movement(&series).filter(Movement::shows);
                    reported += u32::from(moved.is_some());
                    suspect += u32::from(moved.is_some_and(|moved| moved.misleads()));
                }
                [reported, suspect].map(|count| f64::from(count) / f64::from(10 * REPETITIONS) * 100.0)
            };
            let ([level, alarm], [ramp, suspect]) = (reported(0.0), reported(0.2));
            println!(
                "| {seconds} | {:.1} % | {phi} | {level:.1} | {alarm:.1} | {ramp:.1} | {suspect:.1} |",
                100.0 * deviation
            );
        }
    }
}

/// The rule of `--steady`, compared with stopping at the first good look by shape and precision without a limit on the
/// trend.
fn sequential() {
    for (cap, signals) in [(300, &Signal::ALL[..]), (600, &[Signal::Level, Signal::SmallRamp, Signal::Ramp])] {
        println!("\nSteps ended by --steady, limits for reads, cap {cap} s, %\n");
        println!(
            "| signal | noise | phi | first good look: ended | ended | past a jump at 200 s | median end, s | at the cap: not steady | at the cap: not precise |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
        for signal in signals {
            for (deviation, phi) in [0.015, 0.03].into_iter().flat_map(|d| [0.0, 0.8, 0.95].map(|phi| (d, phi))) {
                ended(*signal, cap, deviation, phi);
            }
        }
    }
}

fn ended(signal: Signal, cap: usize, deviation: f64, phi: f64) {
    let mut random = Random::new(2026, "steady");
    let (mut first, mut ends, mut unsteady, mut imprecise) = (0, Vec::new(), 0, 0);
    for _ in 0..REPETITIONS {
        let series = signal.series_of(&mut random, phi, cap, deviation);
        let judge =
            |seen: usize| assess(&Signals { throughput: &series[..seen], ..Signals::default() }, &Criteria::STRICT);
        let (mut looks, mut good) = (Looks::default(), false);
        let end = (1..=cap).find(|seen| {
            looks.due(*seen) && {
                let found = judge(*seen);
                good |= found.steady && found.precision.is_some_and(|p| p.half_width <= Criteria::STRICT.precision);
                looks.push(*seen, &found)
            }
        });
        first += u32::from(good);
        if end.is_none() {
            let found = judge(cap);
            unsteady += u32::from(!found.steady);
            imprecise += u32::from(found.steady && !found.precise);
        }
        ends.extend(end);
    }
    ends.sort_unstable();
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(REPETITIONS);
    let past = match signal {
        Signal::Step | Signal::SmallStep => {
            format!("{:.1}", percent(ends.iter().filter(|end| **end > 215).count() as u32))
        }
        _ => "-".to_owned(),
    };
    println!(
        "| {} | {:.1} % | {phi} | {:.1} | {:.1} | {past} | {} | {:.1} | {:.1} |",
        signal.name(),
        100.0 * deviation,
        percent(first),
        percent(ends.len() as u32),
        ends.get(ends.len() / 2).map_or("-".to_owned(), usize::to_string),
        percent(unsteady),
        percent(imprecise)
    );
}

fn percent(signal: Signal, phi: f64, mut holds: impl FnMut(&[f64]) -> bool) -> f64 {
    let mut random = Random::new(2026, "steady");
    let hits = (0..REPETITIONS).filter(|_| holds(&signal.series(&mut random, phi))).count();
    100.0 * hits as f64 / f64::from(REPETITIONS)
}

fn pieces() {
    println!("\nEach test alone, 300 s, noise 3 % a second, % of series that it objects to\n");
    println!(
        "| signal | phi | MSER-5 past the middle | shape, last 60 s, 10 %/5 % | shape 20 %/10 % | drift | change | period |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for signal in Signal::ALL {
        for phi in [0.0, 0.8, 0.95] {
            let shaped = |limits: Criteria| {
                percent(signal, phi, |s| {
                    shape(&s[240..]).is_some_and(|x| x.range > limits.range || x.excursion > limits.excursion)
                })
            };
            println!(
                "| {} | {phi} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                signal.name(),
                percent(signal, phi, |s| !mser5(s).steady),
                shaped(Criteria::STRICT),
                shaped(Criteria::SNIA),
                percent(signal, phi, |s| drift(s).is_some_and(|d| d.is_drift())),
                percent(signal, phi, |s| !changes(s, 1).is_empty()),
                percent(signal, phi, |s| period(s).is_some()),
            );
        }
    }
}

fn verdicts() {
    println!("\nThe verdict on 300 s, range 20 %, line 10 %: % steady, and what is reported otherwise\n");
    println!("| signal | phi | steady | warming up or too short | drift | change | cycle | swings |");
    println!("|---|---|---|---|---|---|---|---|");
    for signal in Signal::ALL {
        for phi in [0.0, 0.8, 0.95] {
            let reported = |is: &dyn Fn(&Assessment) -> bool| {
                percent(signal, phi, |s| is(&assess(&Signals { throughput: s, ..Signals::default() }, &Criteria::SNIA)))
            };
            let first = |is: fn(&Reason) -> bool| reported(&|a| a.reasons.first().is_some_and(is));
            println!(
                "| {} | {phi} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} |",
                signal.name(),
                reported(&|a| a.steady),
                first(|r| matches!(r, Reason::WarmingUp | Reason::TooShort { .. })),
                first(|r| matches!(r, Reason::Drift { .. })),
                first(|r| matches!(r, Reason::Change(_))),
                first(|r| matches!(r, Reason::Cycle { .. })),
                first(|r| matches!(r, Reason::Swings { .. })),
            );
        }
    }
}

fn warmups() {
    println!("\nMSER-5 on a warm-up that decays from -40 % with a time of 20 s: what is left out, s\n");
    println!("| phi | median | 5 % | 95 % | bias left in the mean, % |");
    println!("|---|---|---|---|---|");
    for phi in [0.0, 0.8, 0.95] {
        let (mut cuts, mut bias) = (Vec::new(), 0.0);
        percent(Signal::WarmUp, phi, |s| {
            let cut = mser5(s).warmup;
            cuts.push(cut);
            bias += s[cut..].iter().sum::<f64>() / (s.len() - cut) as f64 / 1e4 - 1.0;
            true
        });
        cuts.sort_unstable();
        let at = |share: f64| cuts[(share * (cuts.len() - 1) as f64) as usize];
        println!(
            "| {phi} | {} | {} | {} | {:.2} |",
            at(0.5),
            at(0.05),
            at(0.95),
            100.0 * bias / f64::from(REPETITIONS)
        );
    }
}
