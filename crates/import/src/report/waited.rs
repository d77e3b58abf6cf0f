//! What waits of an event took.

use crate::number::Printed;

/// Waits of an event and what they took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Waited {
    /// How many.
    pub waits: f64,
    /// Their time, us.
    pub time_us: Printed,
}

impl Waited {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let time_us = Printed {
            value: self.time_us.value + other.time_us.value,
            half_step: self.time_us.half_step + other.time_us.half_step,
        };
        Self { waits: self.waits + other.waits, time_us }
    }

    /// Mean, us; `None` where there was no wait, or the time is printed as 0: then the mean is up to its error.
    pub fn mean_us(self) -> Option<f64> {
        (self.waits > 0.0 && self.time_us.value > 0.0).then(|| self.time_us.value / self.waits)
    }

    /// How far the mean may be off for the digits of the time, us.
    pub fn error_us(self) -> Option<f64> {
        (self.waits > 0.0).then(|| self.time_us.half_step / self.waits)
    }
}
