//! Waits for an event, with their time.

use crate::number::Printed;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EventLine {
    pub name: String,
    pub waited: Waited,
    /// Share of database time as printed, percent.
    pub percent: Option<Printed>,
    pub class: Option<String>,
}

/// Number, time and mean of waits. Two of them determine the third, so the value with more digits counts: since 12.2 the
/// mean, before 12.2 the time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Waited {
    pub waits: Option<Printed>,
    pub time_us: Option<Printed>,
    /// Time of one as printed, us.
    pub mean_us: Option<Printed>,
}

impl Waited {
    /// Of an event that a whole list of waits lacks.
    pub(crate) const NONE: Self =
        Self { waits: Some(Printed::exact(0.0)), time_us: Some(Printed::exact(0.0)), mean_us: None };

    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        let sum = |a: Option<Printed>, b: Option<Printed>| a.zip(b).map(|(a, b)| a.plus(b));
        let time_us = sum(self.printed_time_us(), other.printed_time_us());
        Self { waits: sum(self.waits, other.waits), time_us, mean_us: None }
    }

    /// Number of waits; `None` if the report does not contain it.
    pub(crate) fn waits(self) -> Option<f64> {
        self.waits.map(|waits| waits.value)
    }

    pub(crate) fn time_us(self) -> Option<f64> {
        self.printed_time_us().map(|time| time.value)
    }

    fn printed_time_us(self) -> Option<Printed> {
        let by_mean = self.waits.zip(self.mean_us).map(|(waits, mean_us)| mean_us.times(waits));
        Printed::more_exact(self.time_us, by_mean)
    }

    /// Mean, us; `None` without waits, or if their time is printed as 0: then the mean is at most its error.
    pub(crate) fn mean_us(self) -> Option<f64> {
        self.mean().map(|mean| mean.value).filter(|us| *us > 0.0)
    }

    /// Largest error of the mean because of the printed digits, us.
    pub(crate) fn error_us(self) -> Option<f64> {
        self.mean().map(|mean| mean.half_step)
    }

    fn mean(self) -> Option<Printed> {
        let by_time = self.time_us.zip(self.waits).and_then(|(time, waits)| time.over(waits));
        Printed::more_exact(by_time, self.mean_us).filter(|_| self.waits.is_none_or(|waits| waits.value > 0.0))
    }
}
