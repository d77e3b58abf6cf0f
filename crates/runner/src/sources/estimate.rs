//! The amount of work of a verb with many steps, and its duration.

use std::fmt;
use std::time::Duration;

use mindful_core::plan::{Plan, units};

/// Time a step takes besides warm-up and window: connecting, settling, judging.
const OVERHEAD: Duration = Duration::from_secs(3);

/// Steps or runs to come. Loading the dataset is not in it: its speed is shown during the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The unit: `step` or `run`.
    pub what: &'static str,
    pub count: u32,
    pub time: Duration,
    /// Whether fewer may do, or in less time.
    pub at_most: bool,
}

impl Estimate {
    pub fn of<'a>(what: &'static str, plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let none = Self { what, count: 0, time: Duration::ZERO, at_most: false };
        plans.into_iter().fold(none, |sum, plan| Self {
            count: sum.count + 1,
            time: sum.time.saturating_add(step_time(plan)),
            at_most: sum.at_most || plan.steady || plan.ops.is_some(),
            ..sum
        })
    }
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { what, count, time, at_most } = self;
        let about = if *at_most { "at most about" } else { "about" };
        let most = if *at_most { "at most " } else { "" };
        write!(f, "{most}{}, {about} {}", units::format_counted(*count, what), rounded(*time))
    }
}

/// Approximate duration of a step of `plan`; the maximum for a step that ends by its data.
pub(crate) fn step_time(plan: &Plan) -> Duration {
    let (warmup, window) = plan.spans();
    warmup.saturating_add(window).saturating_add(OVERHEAD)
}

/// `45 s`, `3 min`, `2 h 10 min`.
fn rounded(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    let minutes = (seconds + 30) / 60;
    match seconds {
        0..90 => format!("{seconds} s"),
        _ if minutes < 90 => format!("{minutes} min"),
        _ => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_says_how_many_and_how_long() {
        let text = |count, seconds, at_most| {
            Estimate { what: "step", count, time: Duration::from_secs(seconds), at_most }.to_string()
        };
        assert_eq!(text(36, 200, false), "36 steps, about 3 min");
        assert_eq!(text(1, 45, false), "1 step, about 45 s");
        assert_eq!(text(14, 7_800, true), "at most 14 steps, at most about 2 h 10 min");
    }
}
