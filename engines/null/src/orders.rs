//! The way of orders to the imagined server, which takes them one after the other.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Orders {
    each: Duration,
    /// When it has taken all that came so far, us since the epoch.
    free_us: Mutex<i64>,
}

impl Orders {
    pub(crate) fn new(each: Duration) -> Self {
        Self { each, free_us: Mutex::default() }
    }

    pub(crate) fn there_us(&self, now_us: i64) -> i64 {
        let mut free_us = self.free_us.lock().unwrap_or_else(PoisonError::into_inner);
        *free_us = now_us.max(*free_us) + self.each.as_micros() as i64;
        *free_us
    }
}
