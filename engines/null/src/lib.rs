//! The null engine: no I/O, but latencies, stalls, failures and counters on demand.
//!
//! It tests the harness and every report: its behaviour is given, so measurements can be compared with it.

mod counters;
mod fault;
mod in_memory_rendezvous;
mod interrupts;
mod options;
mod server;
mod service;
mod session;
mod session_time;
mod signal;
mod simulated_clock;
mod target;
mod value;
mod wrong_clock;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mindful_core::contract::clock::{Clock, HostClock};
use mindful_core::contract::engine::{Capabilities, Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::contract::target::Target;
use mindful_core::plan::settings::Settings;
use mindful_core::workload::Op;
use mindful_core::{Error, Result};

pub use in_memory_rendezvous::InMemoryRendezvous;
pub use options::KEYS;

pub use simulated_clock::SimulatedClock;

use options::Options;
use server::Server;
use target::NullTarget;

pub static ENGINE: Null = Null { clock: None, visits: None };

/// Operations by session, in the order in which they were carried out.
pub type Visits = Arc<Mutex<BTreeMap<u32, Vec<Op>>>>;

#[derive(Debug, Clone, Default)]
pub struct Null {
    clock: Option<SimulatedClock>,
    visits: Option<Visits>,
}

impl Null {
    pub const fn simulated(clock: SimulatedClock) -> Self {
        Self { clock: Some(clock), visits: None }
    }

    /// The same, with its operations recorded in `visits`.
    pub const fn recorded(clock: SimulatedClock, visits: Visits) -> Self {
        Self { clock: Some(clock), visits: Some(visits) }
    }

    fn clock(&self) -> Arc<dyn Clock> {
        match &self.clock {
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
        let (options, visits) = (Options::from_settings(settings)?, self.visits.clone());
        Ok(Arc::new(NullOptions { options, clock: self.clock(), visits }))
    }
}

/// The options of a target, which describe it completely.
struct NullOptions {
    options: Options,
    clock: Arc<dyn Clock>,
    visits: Option<Visits>,
}

impl EngineOptions for NullOptions {
    fn open(&self, _sessions: u32, _events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        let server = Server::new(self.options.clone(), Arc::clone(&self.clock), self.visits.clone());
        Ok(Box::new(NullTarget(Arc::new(server))))
    }
}
