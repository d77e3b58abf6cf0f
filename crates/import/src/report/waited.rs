//! What waits of an event took.

use crate::number::Printed;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventLine {
    pub name: String,
    pub waits: Option<Printed>,
    pub time_us: Option<Printed>,
    /// Time of one as printed, us.
    pub mean_us: Option<Printed>,
    /// Share of database time as printed, percent.
    pub percent: Option<f64>,
    pub class: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Waited {
    /// How many; `None` where the report does not show it.
    pub waits: Option<f64>,
    /// Their time, us: as printed, or as the printed mean has it where that has more digits.
    pub time_us: Option<Printed>,
    printed_mean_us: Option<Printed>,
}

impl Waited {
    /// What `line` shows. Since 12.2 the mean has more digits than the time, before that the time has more.
    pub(crate) fn of(line: &EventLine) -> Self {
        let by_mean = line.waits.zip(line.mean_us).map(|(waits, mean_us)| mean_us.times(waits));
        let time_us = Printed::more_exact(line.time_us, by_mean);
        Self { waits: line.waits.map(|waits| waits.value), time_us, printed_mean_us: line.mean_us }
    }

    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            waits: self.waits.zip(other.waits).map(|(a, b)| a + b),
            time_us: self.time_us.zip(other.time_us).map(|(a, b)| a.plus(b)),
            printed_mean_us: None,
        }
    }

    /// Mean, us; `None` where there was no wait, or its time is printed as 0: then the mean is up to its error.
    pub(crate) fn mean_us(self) -> Option<f64> {
        self.mean().map(|mean| mean.value).filter(|us| *us > 0.0)
    }

    /// How far the mean may be off for the digits that are printed, us.
    pub(crate) fn error_us(self) -> Option<f64> {
        self.mean().map(|mean| mean.half_step)
    }

    fn mean(self) -> Option<Printed> {
        match self.waits {
            Some(waits) => self.time_us?.over(Printed::exact(waits)),
            None => self.printed_mean_us,
        }
    }
}
