//! The imagined server: its options, its dataset, and the totals of its sessions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::contract::clock::Clock;
use mindful_core::dataset::Dataset;
use mindful_core::{Error, Result};

use crate::Visits;
use crate::interrupts::Interrupts;
use crate::options::Options;
use crate::wrong_clock::WrongClock;

/// Amounts of work of one session, or of all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Totals {
    pub blocks: u64,
    pub updated: u64,
    pub commits: u64,
    pub log_bytes: u64,
    pub read_us: u64,
}

pub(crate) struct Server {
    pub options: Options,
    /// Published by sessions when a slice ends.
    totals: Mutex<Totals>,
    pub interrupts: Interrupts,
    pub clock: WrongClock,
    pub visits: Option<Visits>,
    dataset: Mutex<Option<Dataset>>,
    /// When it has taken all orders so far, us since the epoch.
    free_us: Mutex<i64>,
}

impl Server {
    pub(crate) fn new(options: Options, clock: Arc<dyn Clock>, visits: Option<Visits>) -> Self {
        let clock = WrongClock::new(clock, options.clock_offset.as_micros() as i64, options.clock_step);
        let (totals, dataset, free_us) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { options, totals, interrupts: Interrupts::default(), clock, visits, dataset, free_us }
    }

    /// When it has taken an order that is sent at `now_us`: it takes them one after the other.
    pub(crate) fn takes_order_us(&self, now_us: i64) -> i64 {
        let mut free_us = self.free_us.lock().unwrap_or_else(PoisonError::into_inner);
        *free_us = now_us.max(*free_us) + self.options.order.as_micros() as i64;
        *free_us
    }

    pub(crate) fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn held(&self) -> MutexGuard<'_, Option<Dataset>> {
        self.dataset.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn loaded(&self) -> Result<Dataset> {
        self.held().clone().ok_or_else(|| Error::target("nothing is loaded into the null engine", "load first"))
    }
}
