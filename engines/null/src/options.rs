//! The options of the null engine.

use std::time::Duration;

use mindful_core::Result;
use mindful_core::plan::Bound;
use mindful_core::plan::settings::{Key, Settings};
use mindful_core::plan::units::{self, Share};

use crate::fault::{InjectedFailure, Stall};
use crate::signal::Signal;
use crate::value::list;
use crate::wrong_clock::ClockStep;

pub const KEYS: &[Key] = &[
    Key::with_default("null_latency", "TIME", "100us", "Mean time of an operation of a lone session; 0s for no delay")
        .bounded(Bound::ANY_TIME),
    Key::with_default(
        "null_spread",
        "SIGMA",
        "0",
        "Lognormal spread of the times: standard deviation of their logarithm",
    )
    .bounded(Bound::Number(0.0, 10.0)),
    Key::unset("null_capacity", "N", "Number of servers that all sessions share; throughput is capped at N / latency")
        .bounded(Bound::Number(0.001, 1e9)),
    Key::with_default("null_contention", "SIGMA", "0", "Contention: times grow by 1 + SIGMA (N - 1)")
        .bounded(Bound::Number(0.0, 1e3)),
    Key::with_default(
        "null_retrograde",
        "KAPPA",
        "0",
        "Crosstalk: times also grow by KAPPA N (N - 1), so throughput falls at high load",
    )
    .bounded(Bound::Number(0.0, 1e3)),
    Key::unset(
        "null_signal",
        "LIST",
        "Change times during the run: step:FACTOR@AT ramp:FACTOR:OVER cycle:PERCENT:PERIOD ar1:PHI:PERCENT",
    )
    .one_value(),
    Key::unset("null_stall", "LIST", "Stalls: 3s+500ms (at 3 s, for 500 ms) or every:5s+200ms; comma-separated")
        .one_value(),
    Key::unset("null_fail", "LIST", "Failures: 2@1.5s (session 2 at 1.5 s) or connect:3 (session 3 cannot connect)")
        .one_value(),
    Key::with_default(
        "null_order",
        "TIME",
        "0s",
        "Time that the simulated server needs to accept the first order of a session",
    )
    .bounded(Bound::ANY_TIME),
    Key::with_default("null_clock_offset", "TIME", "0s", "Offset of the target's clock from this host's clock")
        .bounded(Bound::ANY_TIME),
    Key::unset("null_clock_step", "AT+TIME", "Set the target's clock forward: 1s+300ms (at 1 s, by 300 ms)"),
    Key::with_default("null_hit_ratio", "PERCENT", "0", "Percentage of logical reads that the simulated cache serves"),
    Key::with_default(
        "null_cache_fill",
        "TIME",
        "0s",
        "Time from the start until the simulated cache reaches --null-hit-ratio",
    )
    .bounded(Bound::ANY_TIME),
    Key::with_default(
        "null_page_cache_share",
        "PERCENT",
        "0",
        "Percentage of physical reads that the simulated page cache serves",
    ),
    Key::unset("null_cpu", "TIME", "CPU time of the simulated server per block (default: not reported)")
        .bounded(Bound::ANY_TIME),
];

#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub latency: Duration,
    pub spread: f64,
    pub capacity: Option<f64>,
    pub contention: f64,
    pub retrograde: f64,
    pub signals: Vec<Signal>,
    pub stalls: Vec<Stall>,
    pub failures: Vec<InjectedFailure>,
    /// Time for the server to accept the order of one session.
    pub order: Duration,
    pub clock_offset: Duration,
    pub clock_step: Option<ClockStep>,
    pub hit_ratio: Share,
    pub cache_fill: Duration,
    pub page_cache_share: Share,
    pub cpu: Option<Duration>,
}

impl Options {
    pub(crate) fn from_settings(all: &Settings) -> Result<Self> {
        all.check_bounds(KEYS)?;
        Ok(Self {
            latency: all.require("null_latency", units::parse_duration)?,
            spread: all.require("null_spread", units::parse_number)?,
            capacity: all.parse("null_capacity", units::parse_number)?,
            contention: all.require("null_contention", units::parse_number)?,
            retrograde: all.require("null_retrograde", units::parse_number)?,
            signals: all.parse("null_signal", |text| list(text, Signal::parse))?.unwrap_or_default(),
            stalls: all.parse("null_stall", |text| list(text, Stall::parse))?.unwrap_or_default(),
            failures: all.parse("null_fail", |text| list(text, InjectedFailure::parse))?.unwrap_or_default(),
            order: all.require("null_order", units::parse_duration)?,
            clock_offset: all.require("null_clock_offset", units::parse_duration)?,
            clock_step: all.parse("null_clock_step", ClockStep::parse)?,
            hit_ratio: all.require("null_hit_ratio", Share::parse)?,
            cache_fill: all.require("null_cache_fill", units::parse_duration)?,
            page_cache_share: all.require("null_page_cache_share", Share::parse)?,
            cpu: all.parse("null_cpu", units::parse_duration)?,
        })
    }

    /// Slowdown of operations with `sessions` at work: a hard cap times the Universal Scalability Law (docs/method.md,
    /// Sweeps and the knee).
    pub(crate) fn crowding(&self, sessions: u32) -> f64 {
        let n = f64::from(sessions);
        let capped = self.capacity.map_or(1.0, |servers| (n / servers).max(1.0));
        capped * (1.0 + self.contention * (n - 1.0) + self.retrograde * n * (n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::plan::settings::Origin;

    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Result<Options> {
        let mut settings = Settings::defaults(KEYS);
        for (name, value) in pairs {
            settings.set(name, *value, Origin::Flag(format!("--{name}")));
        }
        Options::from_settings(&settings)
    }

    #[test]
    fn crowding_follows_the_known_curves() {
        let hard = options(&[("null_capacity", "6.4")]).unwrap();
        assert!((hard.crowding(4) - 1.0).abs() < 1e-9);
        assert!((hard.crowding(64) - 10.0).abs() < 1e-9);
        let usl = options(&[("null_contention", "0.02"), ("null_retrograde", "0.0002")]).unwrap();
        let throughput = |n: u32| f64::from(n) / usl.crowding(n);
        // Peak at sqrt((1 - sigma) / kappa) = 70.
        assert!(throughput(70) > throughput(60) && throughput(70) > throughput(80));
    }

    #[test]
    fn a_wrong_option_names_the_option() {
        for (name, value) in
            [("null_stall", "3s"), ("null_fail", "x@1s"), ("null_signal", "wave:3"), ("null_latency", "3")]
        {
            let message = options(&[(name, value)]).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
    }
}
