//! Signals with a known truth, like the seconds of a run and the points of a ladder.

#![allow(dead_code, clippy::allow_attributes, reason = "each test uses its part")]

use mindful_analyze::compare::{Question, RunValue, SideValues, Verdict, compare_runs};
use mindful_analyze::knee::{LoadPoint, ModelKind};
use mindful_analyze::stats::distribution::t_two_sided;
use mindful_analyze::stats::moment::{mean, variance};
use mindful_analyze::stats::random::Random;

/// First-order autoregressive noise of mean 0 and deviation 1, from its stationary state.
pub(crate) fn noise(random: &mut Random, points: usize, phi: f64) -> Vec<f64> {
    let mut level = random.normal();
    (0..points)
        .map(|_| {
            let now = level;
            level = phi * level + (1.0 - phi * phi).sqrt() * random.normal();
            now
        })
        .collect()
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs {
    pub a_side: usize,
    pub seconds: usize,
    /// Deviation within a run, relative.
    pub within: f64,
    /// Deviation between runs, relative.
    pub between: f64,
    /// Autocorrelation from second to second.
    pub phi: f64,
}

impl Runs {
    pub(crate) fn side(&self, random: &mut Random, level: f64) -> Vec<RunValue> {
        (0..self.a_side).map(|_| self.run(random, level)).collect()
    }

    fn run(&self, random: &mut Random, level: f64) -> RunValue {
        let of_run = level * (1.0 + self.between * random.normal());
        let series: Vec<f64> =
            noise(random, self.seconds, self.phi).iter().map(|e| of_run * (1.0 + self.within * e)).collect();
        RunValue { value: mean(&series).unwrap_or(f64::NAN), series, machine: None }
    }
}

pub(crate) fn values(side: &[RunValue]) -> Vec<f64> {
    side.iter().map(|run| run.value).collect()
}

pub(crate) fn ask(margin: f64) -> Question {
    Question { margin, resamples: 0, ..Question::default() }
}

/// Whether the verdict on two sides is that one is faster.
pub(crate) fn differs(a: &[RunValue], b: &[RunValue], margin: f64) -> bool {
    compare_runs(a, b, &ask(margin)).is_ok_and(|c| matches!(c.verdict, Verdict::Faster | Verdict::Slower))
}

/// Whether the interval of the ratio excludes 1: the test of no difference at 5 %.
pub(crate) fn are_unequal(a: &[RunValue], b: &[RunValue], question: &Question) -> bool {
    let interval = compare_runs(a, b, question).ok().and_then(|compared| compared.interval);
    interval.is_some_and(|i| i.confidence > 0.949 && (i.low > 1.0 || i.high < 1.0))
}

pub(crate) fn side(random: &mut Random, runs: usize, level: f64, variation: f64) -> SideValues {
    let run = |_| RunValue::from_value(level * (variation * random.normal()).exp());
    SideValues { runs: (0..runs).map(run).collect(), noise: None }
}

/// Runs of several machines of one type, with the third host at `odd` of its level.
pub(crate) struct Fleet {
    pub machines: usize,
    /// Runs of each machine.
    pub runs: usize,
    pub between: f64,
    pub within: f64,
    pub odd: f64,
}

impl Fleet {
    pub(crate) fn side(&self, random: &mut Random, level: f64) -> Vec<RunValue> {
        let mut all = Vec::new();
        for number in 0..self.machines {
            let odd = if number == 2 { self.odd } else { 1.0 };
            let level = level * (self.between * random.normal()).exp() * odd;
            let run = |_| RunValue {
                machine: Some(format!("host-{number}")),
                ..RunValue::from_value(level * (self.within * random.normal()).exp())
            };
            all.extend((0..self.runs).map(run));
        }
        all
    }
}

/// Two-sided p of Welch's t test, each side's points worth `shares` of their number: the test that is misleading on
/// seconds.
pub(crate) fn welch(a: &[f64], b: &[f64], shares: [f64; 2]) -> f64 {
    let part = |side: &[f64], share: f64| {
        let worth = (side.len() as f64 * share).max(2.0);
        (variance(side).unwrap_or(0.0) / worth, worth - 1.0)
    };
    let ((of_a, free_a), (of_b, free_b)) = (part(a, shares[0]), part(b, shares[1]));
    let freedom = (of_a + of_b).powi(2) / (of_a * of_a / free_a + of_b * of_b / free_b);
    t_two_sided((mean(a).unwrap_or(0.0) - mean(b).unwrap_or(0.0)) / (of_a + of_b).sqrt(), freedom)
}

pub(crate) struct Curve {
    pub name: &'static str,
    pub kind: ModelKind,
    throughput: fn(f64) -> f64,
    /// Highest throughput within the ladder.
    pub max_per_s: f64,
    /// `R0 C`.
    pub asymptote: f64,
    /// Sessions past which throughput falls.
    pub peak: Option<f64>,
}

/// The four curves of the method, with 100 us at one session: hard cap, soft cap, contention, retrograde.
pub(crate) const LADDERS: [Curve; 4] = [
    Curve {
        name: "hard cap",
        kind: ModelKind::Capped,
        throughput: |n| (n / 100e-6).min(64e3),
        max_per_s: 64e3,
        asymptote: 6.4,
        peak: None,
    },
    Curve {
        name: "soft cap",
        kind: ModelKind::Capped,
        throughput: |n| ((n / 100e-6).powi(-4) + 400e3_f64.powi(-4)).powf(-0.25),
        max_per_s: 400e3,
        asymptote: 40.0,
        peak: None,
    },
    Curve {
        name: "contention",
        kind: ModelKind::Usl,
        throughput: |n| 1e4 * n / (1.0 + 0.03 * (n - 1.0)),
        max_per_s: 1e4 * 256.0 / (1.0 + 0.03 * 255.0),
        asymptote: 1.0 / 0.03,
        peak: None,
    },
    Curve {
        name: "retrograde",
        kind: ModelKind::Usl,
        throughput: |n| 1e4 * n / (1.0 + 0.02 * (n - 1.0) + 2e-4 * n * (n - 1.0)),
        max_per_s: 1e4 * 70.0 / (1.0 + 0.02 * 69.0 + 2e-4 * 70.0 * 69.0),
        asymptote: 70.0 / (1.0 + 0.02 * 69.0 + 2e-4 * 70.0 * 69.0),
        peak: Some(70.0),
    },
];

impl Curve {
    /// The points a ladder of 1 to 256 sessions would measure, with relative noise.
    pub(crate) fn ladder(&self, random: &mut Random, noise: f64) -> Vec<LoadPoint> {
        let middle = [0.75, 1.5, 2.0].map(|share| (share * self.asymptote).round() as u32);
        let mut loads: Vec<u32> = (0..9).map(|power| 1 << power).chain(middle).collect();
        loads.sort_unstable();
        loads.dedup();
        let point = |sessions: u32| LoadPoint {
            sessions,
            throughput: (self.throughput)(f64::from(sessions)) * (1.0 + noise * random.normal()),
            p99_us: None,
        };
        loads.into_iter().map(point).collect()
    }
}

/// The course of a run's throughput, around 10,000 a second for 300 s with noise of 3 %.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    Level,
    /// Rises by 5 % in all.
    SmallRamp,
    /// Rises by 15 % in all.
    Ramp,
    /// Falls by 10 % after 200 s.
    Step,
    /// Falls by 5 % after 200 s.
    SmallStep,
    /// Goes up and down by 20 % each way in 60 s.
    Cycle,
    /// Starts 40 % low and settles with a time of 20 s.
    WarmUp,
}

impl Signal {
    pub(crate) const ALL: [Self; 7] =
        [Self::Level, Self::SmallRamp, Self::Ramp, Self::SmallStep, Self::Step, Self::Cycle, Self::WarmUp];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::SmallRamp => "ramp 5 %",
            Self::Ramp => "ramp 15 %",
            Self::Step => "step 10 %",
            Self::SmallStep => "step 5 %",
            Self::Cycle => "cycle 20 %, 60 s",
            Self::WarmUp => "warm-up 40 %, 20 s",
        }
    }

    pub(crate) fn series(self, random: &mut Random, phi: f64) -> Vec<f64> {
        self.series_of(random, phi, 300, 0.03)
    }

    /// The signal over so many seconds, with noise of this relative deviation; ramps continue.
    pub(crate) fn series_of(self, random: &mut Random, phi: f64, seconds: usize, deviation: f64) -> Vec<f64> {
        let shape = |t: f64| match self {
            Self::SmallRamp => 0.975 + 0.05 * t / 300.0,
            Self::Ramp => 0.925 + 0.15 * t / 300.0,
            Self::Step if t >= 200.0 => 0.9,
            Self::SmallStep if t >= 200.0 => 0.95,
            Self::Level | Self::Step | Self::SmallStep => 1.0,
            Self::Cycle => 1.0 + 0.2 * (std::f64::consts::TAU * t / 60.0).sin(),
            Self::WarmUp => 1.0 - 0.4 * (-t / 20.0).exp(),
        };
        let at = |(t, e): (usize, &f64)| 1e4 * shape(t as f64) * (1.0 + deviation * e);
        noise(random, seconds, phi).iter().enumerate().map(at).collect()
    }
}
