//! Prints the tables of docs/method-statistics.md: how often judgements of simulated runs are right and wrong.
//!
//! `cargo run --release -p mindful-analyze --features benchmarks --example rates [compare|ranks|knee|steady|movements]...`

#![expect(clippy::print_stdout, reason = "the tables are its result")]

#[path = "../tests/it/synthetic.rs"]
mod synthetic;

use mindful_analyze::compare::{
    NoiseFloor, Question, Ranks, Verdict, compare_runs, detectable_effect, machine_spread, runs_to_rank,
};
use mindful_analyze::knee::{Knee, ModelKind, Search, find};
use mindful_analyze::stats::moment::{batch_means, median};
use mindful_analyze::stats::random::Random;
use mindful_analyze::stats::series::autocorrelation_time;
use mindful_analyze::steady::settling::Looks;
use mindful_analyze::steady::{
    Assessment, Criteria, Movement, PRECISION, Reason, Signals, assess, changes, drift, movement, mser5, period_s,
    shape,
};
use mindful_core::result::KneeFigure;
use synthetic::{Curve, Fleet, LADDERS, Runs, Signal, are_unequal, ask, differs, side, values, welch};

/// Relative standard deviation between runs.
const BETWEEN: f64 = 0.015;
const PHIS: [f64; 3] = [0.0, 0.8, 0.95];

type Tables = &'static [fn()];

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).collect();
    let tables: [(&str, Tables); 5] = [
        ("compare", &[false_alarms, power, coverage, verdicts]),
        ("ranks", &[family_wise_errors, runs_to_see, agreement, types_of_machines, outliers]),
        ("knee", &[knees]),
        ("steady", &[pieces, steady_verdicts, warmups, sequential]),
        ("movements", &[movements]),
    ];
    for (part, tables) in tables {
        if parts.is_empty() || parts.iter().any(|wanted| wanted == part) {
            for table in tables {
                table();
            }
        }
    }
}

fn head(title: &str, columns: &str) {
    println!("\n{title}\n\n| {columns} |\n|{}", "---|".repeat(columns.matches(" | ").count() + 1));
}

fn line(head: &str, cells: &[f64]) {
    let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:.1}")).collect();
    println!("| {head} | {} |", cells.join(" | "));
}

/// Share of `repetitions` in percent for which each of N columns is true.
fn rates<const N: usize>(repetitions: u32, purpose: &str, mut row: impl FnMut(&mut Random) -> [bool; N]) -> [f64; N] {
    let mut random = Random::new(2026, purpose);
    let mut counts = [0_u32; N];
    for _ in 0..repetitions {
        for (count, hit) in counts.iter_mut().zip(row(&mut random)) {
            *count += u32::from(hit);
        }
    }
    counts.map(|count| 100.0 * f64::from(count) / f64::from(repetitions))
}

fn several(runs: usize) -> Runs {
    Runs { a_side: runs, seconds: 1, within: 0.0, between: BETWEEN, phi: 0.0 }
}

fn false_alarms() {
    head(
        "A/A: equal plans called different, %",
        "phi | run-to-run CV | Welch on 1-s points | Welch on 30-s batches | Welch on effective points | one run a side with noise floor | Mann-Whitney 5 v 5 | Welch 5 v 5 runs | verdict faster or slower, margin 3 %",
    );
    for (phi, between) in PHIS.into_iter().flat_map(|phi| [0.0, 0.01, 0.015].map(|between| (phi, between))) {
        let setting = Runs { a_side: 5, seconds: 300, within: 0.03, between, phi };
        let cells = rates(1_500, "false alarms", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4));
            let noise = NoiseFloor::from_values(&values(&setting.side(random, 1e4)));
            let (x, y) = (&a[0].series, &b[0].series);
            let worth = [1.0 / autocorrelation_time(x), 1.0 / autocorrelation_time(y)];
            let single = Question { noise, ..ask(0.03) };
            [
                welch(x, y, [1.0; 2]) <= 0.05,
                welch(&batch_means(x, 30), &batch_means(y, 30), [1.0; 2]) <= 0.05,
                welch(x, y, worth) <= 0.05,
                are_unequal(&a[..1], &b[..1], &single),
                are_unequal(&a, &b, &ask(0.03)),
                welch(&values(&a), &values(&b), [1.0; 2]) <= 0.05,
                differs(&a, &b, 0.03),
            ]
        });
        line(&format!("{phi} | {:.1} %", between * 100.0), &cells);
    }
}

fn power() {
    head(
        "Power: a difference of the detectable size is found, % (predicted: 80)",
        "runs a side | CV 1.5 %: detectable | found | 2.80 CV sqrt(2/k) | found",
    );
    for count in [4_usize, 5, 6, 8, 10, 20] {
        let setting = several(count);
        let effect = detectable_effect(BETWEEN, count as u32).unwrap_or(f64::NAN);
        let plain = 2.80 * BETWEEN * (2.0 / count as f64).sqrt();
        let [found, found_plain] = [effect, plain].map(|size| {
            rates(1_500, "power", |random| {
                let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4 * (1.0 + size)));
                [are_unequal(&a, &b, &ask(0.03))]
            })[0]
        });
        println!("| {count} | {:.2} % | {found:.1} | {:.2} % | {found_plain:.1} |", effect * 100.0, plain * 100.0);
    }
}

fn coverage() {
    head(
        "Coverage of the interval of the ratio, %",
        "runs a side | exact (Mann-Whitney) | its stated confidence | bootstrap BCa",
    );
    for count in [3, 4, 5, 8, 10, 20] {
        let (setting, mut confidence) = (several(count), 0.0);
        let [exact, bootstrap] = rates(1_500, "coverage", |random| {
            let (a, b) = (setting.side(random, 1e4), setting.side(random, 1.1e4));
            let found = compare_runs(&a, &b, &Question { resamples: 600, ..ask(0.03) }).ok();
            let interval = found.as_ref().and_then(|c| c.interval);
            confidence = interval.map_or(f64::NAN, |i| i.confidence);
            [interval, found.and_then(|c| c.bootstrap)].map(|i| i.is_some_and(|i| i.low <= 1.1 && 1.1 <= i.high))
        });
        line(&count.to_string(), &[exact, confidence * 100.0, bootstrap]);
    }
}

fn verdicts() {
    head(
        "Verdicts by true difference, five and ten runs a side, CV 1.5 %, margin 3 %, %",
        "runs a side | true difference | faster | slower | no meaningful difference | not decided",
    );
    for count in [5, 10] {
        for difference in [0.0, 0.01, 0.03, 0.05, 0.07, 0.10] {
            let setting = several(count);
            let cells = rates(1_500, "verdicts", |random| {
                let (a, b) = (setting.side(random, 1e4), setting.side(random, 1e4 * (1.0 + difference)));
                let verdict = compare_runs(&a, &b, &ask(0.03)).ok().map(|c| c.verdict);
                [Verdict::Faster, Verdict::Slower, Verdict::NoMeaningfulDifference, Verdict::NotDecided]
                    .map(|v| verdict == Some(v))
            });
            line(&format!("{count} | {:.0} %", difference * 100.0), &cells);
        }
    }
}

fn family_wise_errors() {
    head(
        "Sets of equal sides in which two are told apart, %, margin 0",
        "sides | 4 runs | 5 runs | 8 runs | 4 runs, deviations 1 and 3 % | 8 runs, deviations 1 and 3 %",
    );
    for count in [3, 4, 6, 8, 10, 12] {
        let cells = [(4, false), (5, false), (8, false), (4, true), (8, true)].map(|(runs, unequal)| {
            rates(1_000, "family-wise errors", |random| {
                let variation = |at: usize| if unequal { [0.01, 0.03][at % 2] } else { BETWEEN };
                let sides: Vec<_> = (0..count).map(|at| side(random, runs, 1e4, variation(at))).collect();
                let ranks = Ranks::from_sides(&sides, &ask(0.0)).map(|ranks| ranks.ranks).unwrap_or_default();
                [ranks.iter().any(|rank| *rank != [1, count as u32])]
            })[0]
        });
        line(&count.to_string(), &cells);
    }
}

fn runs_to_see() {
    head(
        "Runs a side to see a difference in four of five cases, CV 1.5 %, margin 3 %; found, %",
        "sides | 5 % | found | 10 % | found | 20 % | found",
    );
    for count in 2..=12 {
        let cells = [0.05, 0.1, 0.2].map(|difference| {
            let runs = runs_to_rank(BETWEEN, difference, 0.03, count).unwrap_or(0) as usize;
            let [seen] = rates(500, "runs to see", |random| {
                let level = |at: usize| if at == 0 { 1e4 * (1.0 + difference) } else { 1e4 };
                let sides: Vec<_> = (0..count).map(|at| side(random, runs, level(at), BETWEEN)).collect();
                [Ranks::from_sides(&sides, &ask(0.03)).is_ok_and(|ranks| ranks.is_better(0, 1))]
            });
            format!(" {runs} | {seen:.0} |")
        });
        println!("| {count} |{}", cells.concat());
    }
}

fn agreement() {
    head(
        "Verdicts on two sides alone and among others, %, 5 runs, CV 1.5 %, margin 3 %",
        "sides | true difference | faster alone | faster among others | told apart among others alone",
    );
    for count in [3, 6, 12] {
        for difference in [0.0, 0.05, 0.07, 0.1] {
            let cells = rates(1_000, "agreement", |random| {
                let level = |at: usize| if at == 1 { 1e4 * (1.0 + difference) } else { 1e4 };
                let sides: Vec<_> = (0..count).map(|at| side(random, 5, level(at), BETWEEN)).collect();
                let alone = compare_runs(&sides[0].runs, &sides[1].runs, &ask(0.03));
                let alone = alone.is_ok_and(|compared| compared.verdict == Verdict::Faster);
                let among = Ranks::from_sides(&sides, &ask(0.03)).is_ok_and(|ranks| ranks.is_better(1, 0));
                [alone, among, among && !alone]
            });
            line(&format!("{count} | {:.0} %", difference * 100.0), &cells);
        }
    }
}

fn types_of_machines() {
    head(
        "Types of machines, 8 % between machines, 1.5 % between 4 runs of one; told apart, %, margin 0",
        "machines | equal types | the runs as if of one machine | 20 % apart | 50 % apart",
    );
    for (a, b) in [(2, 2), (3, 1), (3, 3), (5, 3), (5, 5), (8, 8)] {
        let cells = [(0.0, false), (0.0, true), (0.2, false), (0.5, false)].map(|(difference, pooled)| {
            rates(1_000, "types of machines", |random| {
                let fleet = |machines| Fleet { machines, runs: 4, between: 0.08, within: BETWEEN, odd: 1.0 };
                let mut one = fleet(a).side(random, 1e4);
                let mut other = fleet(b).side(random, 1e4 * (1.0 + difference));
                if pooled {
                    one.iter_mut().chain(&mut other).for_each(|run| run.machine = None);
                }
                [differs(&one, &other, 0.0)]
            })[0]
        });
        line(&format!("{a} and {b}"), &cells);
    }
}

fn outliers() {
    head(
        "A machine named as unlike the others, %, margin 3 %",
        "machines | between machines | none is | one at 0.8 | one at 0.6",
    );
    for (machines, between) in [(3, 0.01), (3, 0.08), (5, 0.01), (5, 0.08), (8, 0.08)] {
        let cells = [1.0, 0.8, 0.6].map(|odd| {
            rates(1_000, "outliers", |random| {
                let runs = Fleet { machines, runs: 4, between, within: BETWEEN, odd }.side(random, 1e4);
                let outlier = machine_spread(&runs, 0.03).and_then(|spread| spread.outlier);
                [outlier.is_some_and(|outlier| odd > 0.99 || outlier.machine == "host-2")]
            })[0]
        });
        line(&format!("{machines} | {:.0} %", between * 100.0), &cells);
    }
}

fn knees() {
    for noise in [0.01, 0.02] {
        head(
            &format!("Knee, noise {} % a point, 200 ladders of 1 to 256", noise * 100.0),
            "truth | model wins or is shown, % | capped rms | USL rms | R0 C: truth, median, within 10 %, 95 % interval holds | best power | X max within 10 %, interval holds | peak: truth, reported in %, median",
        );
        for curve in &LADDERS {
            knee(curve, noise);
        }
    }
}

fn knee(curve: &Curve, noise: f64) {
    let ladders = (0..200).map(|seed| curve.ladder(&mut Random::new(seed, "ladder"), noise));
    let search = Search { resamples: 200, ..Search::default() };
    let knees: Vec<Knee> = ladders.filter_map(|points| find(&points, &search).ok()).collect();
    let percent =
        |holds: &dyn Fn(&Knee) -> bool| 100.0 * knees.iter().filter(|k| holds(k)).count() as f64 / knees.len() as f64;
    let middle = |figure: &dyn Fn(&Knee) -> Option<f64>| {
        median(&knees.iter().filter_map(figure).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
    };
    let rms = |kind: ModelKind| 100.0 * middle(&|k| k.fits.iter().find(|f| f.model.kind() == kind).map(|f| f.rms));
    let near = |found: Option<f64>, truth: f64| found.is_some_and(|t| (t / truth - 1.0).abs() <= 0.1);
    let holds =
        |interval: Option<&[f64; 2]>, truth: f64| interval.is_some_and(|[low, high]| *low <= truth && truth <= *high);
    println!(
        "| {} | {:.0}, {:.0} | {:.1} % | {:.1} % | {:.1}, {:.1}, {:.0} %, {:.0} % | {:.1} | {:.0} %, {:.0} % | {}, {:.0} %, {:.0} |",
        curve.name,
        percent(&|k| k.fits[0].model.kind() == curve.kind),
        percent(&|k| k.fits.iter().any(|f| f.model.kind() == curve.kind && f.aicc - k.fits[0].aicc < 2.0)),
        rms(ModelKind::Capped),
        rms(ModelKind::Usl),
        curve.asymptote,
        middle(&|k| k.summary.asymptote_sessions),
        percent(&|k| near(k.summary.asymptote_sessions, curve.asymptote)),
        percent(&|k| holds(k.summary.intervals.get(KneeFigure::AsymptoteSessions.name()), curve.asymptote)),
        middle(&|k| k.summary.best_power_sessions),
        percent(&|k| near(k.summary.max_per_s, curve.max_per_s)),
        percent(&|k| holds(k.summary.intervals.get(KneeFigure::MaxPerS.name()), curve.max_per_s)),
        curve.peak.map_or("none".to_owned(), |p| format!("{p:.0}")),
        percent(&|k| k.summary.peak_sessions.is_some()),
        middle(&|k| k.summary.peak_sessions),
    );
}

/// The share of series of a signal for which each column holds.
fn of_signals<const N: usize>(title: &str, columns: &str, row: impl Fn(&[f64]) -> [bool; N]) {
    head(title, &format!("signal | phi | {columns}"));
    for (signal, phi) in Signal::ALL.into_iter().flat_map(|signal| PHIS.map(|phi| (signal, phi))) {
        let cells = rates(200, "steady", |random| row(&signal.series(random, phi)));
        line(&format!("{} | {phi}", signal.name()), &cells);
    }
}

fn pieces() {
    of_signals(
        "Each test alone, 300 s, noise 3 % a second, % of series that it objects to",
        "MSER-5 past the middle | shape, last 60 s, 10 %/5 % | shape 20 %/10 % | drift | change | period",
        |s| {
            let shaped = |limits: Criteria| {
                shape(&s[240..]).is_some_and(|x| x.range > limits.range || x.excursion > limits.excursion)
            };
            [
                !mser5(s).steady,
                shaped(Criteria::STRICT),
                shaped(Criteria::SNIA),
                drift(s).is_some_and(|d| d.is_drift()),
                !changes(s).is_empty(),
                period_s(s).is_some(),
            ]
        },
    );
}

fn judge(series: &[f64], criteria: &Criteria) -> Assessment {
    assess(&Signals { throughput: series, ..Signals::default() }, criteria)
}

fn steady_verdicts() {
    of_signals(
        "The verdict on 300 s, range 20 %, line 10 %: % steady, and what is reported otherwise",
        "steady | warming up or too short | drift | change | cycle | swings",
        |s| {
            let judged = judge(s, &Criteria::SNIA);
            let first = judged.reasons.first();
            [
                judged.steady,
                matches!(first, Some(Reason::WarmingUp | Reason::TooShort { .. })),
                matches!(first, Some(Reason::Drift { .. })),
                matches!(first, Some(Reason::Change(_))),
                matches!(first, Some(Reason::Cycle { .. })),
                matches!(first, Some(Reason::Swings { .. })),
            ]
        },
    );
}

fn warmups() {
    head(
        "MSER-5 on a warm-up that decays from -40 % with a time of 20 s: what is left out, s",
        "phi | median | 5 % | 95 % | bias left in the mean, %",
    );
    for phi in PHIS {
        let (mut cuts, mut bias) = (Vec::new(), 0.0);
        rates(200, "steady", |random| {
            let series = Signal::WarmUp.series(random, phi);
            let cut = mser5(&series).warmup;
            cuts.push(cut);
            bias += series[cut..].iter().sum::<f64>() / (series.len() - cut) as f64 / 1e4 - 1.0;
            []
        });
        cuts.sort_unstable();
        let [middle, low, high] = [0.5, 0.05, 0.95].map(|share| cuts[(share * (cuts.len() - 1) as f64) as usize]);
        println!("| {phi} | {middle} | {low} | {high} | {:.2} |", bias / 2.0);
    }
}

/// The rule of `--steady`, compared with stopping at the first good look by shape and precision without a limit on the
/// trend.
fn sequential() {
    for (cap, signals) in [(300, &Signal::ALL[..]), (600, &[Signal::Level, Signal::SmallRamp, Signal::Ramp])] {
        head(
            &format!("Steps ended by --steady, limits for reads, cap {cap} s, %"),
            "signal | noise | phi | first good look: ended | ended | past a jump at 200 s | median end, s | at the cap: not steady | at the cap: not precise",
        );
        for signal in signals {
            for (deviation, phi) in [0.015, 0.03].into_iter().flat_map(|d| PHIS.map(|phi| (d, phi))) {
                ended(*signal, cap, deviation, phi);
            }
        }
    }
}

fn ended(signal: Signal, cap: usize, deviation: f64, phi: f64) {
    let mut ends = Vec::new();
    let [first, ended, past, unsteady, imprecise] = rates(200, "steady", |random| {
        let series = signal.series_of(random, phi, cap, deviation);
        let (mut looks, mut good) = (Looks::default(), false);
        let end = (1..=cap).find(|seen| {
            looks.due(*seen) && {
                let found = judge(&series[..*seen], &Criteria::STRICT);
                good |= found.steady && found.precision.is_some_and(|half| half <= PRECISION);
                looks.push(*seen, &found)
            }
        });
        ends.extend(end);
        let at_cap = if end.is_none() { Some(judge(&series, &Criteria::STRICT)) } else { None };
        let [unsteady, imprecise] = at_cap.map_or([false; 2], |found| [!found.steady, found.steady && !found.precise]);
        [good, end.is_some(), end.is_some_and(|end| end > 215), unsteady, imprecise]
    });
    ends.sort_unstable();
    let jumps = matches!(signal, Signal::Step | Signal::SmallStep);
    println!(
        "| {} | {:.1} % | {phi} | {first:.1} | {ended:.1} | {} | {} | {unsteady:.1} | {imprecise:.1} |",
        signal.name(),
        100.0 * deviation,
        if jumps { format!("{past:.1}") } else { "-".to_owned() },
        ends.get(ends.len() / 2).map_or("-".to_owned(), usize::to_string),
    );
}

/// Share of windows that are reported as moved: with noise only, and with a ramp of 20 % over the window.
fn movements() {
    head(
        "Windows reported to have moved, %",
        "window, s | noise | phi | level: reported | level: suspect | ramp 20 %: reported | ramp 20 %: suspect",
    );
    for seconds in [10, 30, 60, 300] {
        for (deviation, phi) in [0.015, 0.03, 0.06].into_iter().flat_map(|d| PHIS.map(|phi| (d, phi))) {
            let cells = [0.0, 0.2].map(|ramp| {
                rates(2_000, "moved", |random| {
                    let level = Signal::Level.series_of(random, phi, seconds, deviation);
                    let rise = |t: usize| 1.0 + ramp * (t as f64 / seconds as f64 - 0.5);
                    let series: Vec<f64> = level.iter().enumerate().map(|(t, v)| v * rise(t)).collect();
                    let moved = movement(&series).filter(Movement::shows);
                    [moved.is_some(), moved.is_some_and(|moved| moved.misleads())]
                })
            });
            line(&format!("{seconds} | {:.1} % | {phi}", 100.0 * deviation), cells.as_flattened());
        }
    }
}
