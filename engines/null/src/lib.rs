//! The null engine: no I/O, but latencies, stalls, failures and counters on demand.
//!
//! It tests the harness and every report: its behaviour is given, so measurements can be compared with it.

mod counters;
mod fault;
mod in_memory_rendezvous;
mod interrupts;
mod options;
mod service;
mod session;
mod session_time;
mod signal;
mod simulated_clock;
mod target;
mod wrong_clock;

use std::sync::Arc;

use mindful_core::contract::clock::{Clock, HostClock};
use mindful_core::contract::engine::{Capabilities, Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::contract::target::Target;
use mindful_core::plan::settings::Settings;
use mindful_core::{Error, Result};

pub use in_memory_rendezvous::InMemoryRendezvous;
pub use options::KEYS;

pub use simulated_clock::SimulatedClock;

use options::Options;
use target::{NullTarget, Server};

pub static ENGINE: Null = Null(None);

#[derive(Debug, Clone, Default)]
pub struct Null(Option<SimulatedClock>);

impl Null {
    pub const fn simulated(clock: SimulatedClock) -> Self {
        Self(Some(clock))
    }

    fn clock(&self) -> Arc<dyn Clock> {
        match &self.0 {
            Some(clock) => Arc::new(clock.clone()),
            None => Arc::new(HostClock),
        }
    }
}

impl Engine for Null {
    fn facts(&self) -> EngineFacts {
        let summary = "no I/O at all: seeded latencies, stalls and failures, to test the harness itself";
        let can = Capabilities { server_side_loop: true, ..Capabilities::CLIENT_LOOP };
        EngineFacts { options: KEYS, ..EngineFacts::new("null", &["null"], summary, can) }
    }

    fn redact(&self, url: &str) -> String {
        url.to_owned()
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        if !matches!(url, "null" | "null:" | "null://") {
            let what = format!("`{url}` is not a target of the null engine");
            return Err(Error::plan(what, "write null: and nothing more"));
        }
        Ok(Arc::new(NullOptions { options: Options::from_settings(settings)?, clock: self.clock() }))
    }
}

/// The options of a target, which describe it completely.
struct NullOptions {
    options: Options,
    clock: Arc<dyn Clock>,
}

impl EngineOptions for NullOptions {
    fn open(&self, _sessions: u32, _events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        Ok(Box::new(NullTarget(Arc::new(Server::new(self.options.clone(), Arc::clone(&self.clock))))))
    }
}
