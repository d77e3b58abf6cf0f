//! Coordination of the processes of one run: which one manages the target, which sessions each has, when all begin, and
//! which one reports.
//!
//! The runner calls this trait only. [`Alone`] implements it for a run of one process. Processes that meet over a
//! network have a crate of their own, which imports this one. The alternative was an optional field that each step of a
//! run had to check. A run of one process then took other paths than a shared one, and each new step had two cases.
//!
//! Calls come in this order: `gather`, `target_prepared`, `ready`, `start` until it answers, `started`, `check_others`
//! while sessions work, `step_ended`, `finish`. An error at any point is reported by `fail`, and ends the run of all.

use std::time::Duration;

use mindful_analyze::Analysis;
use mindful_core::contract::event::Events;
use mindful_core::contract::slice::Placement;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};

use crate::clock_offset::ClockOffset;
use crate::context::Context;
use crate::hooks::HookMoment;

/// A run that has ended and is stored.
pub struct Ended {
    /// The run as it was read back from its folder.
    pub run: Run,
    pub analysis: Analysis,
    pub error: Option<Error>,
    pub interrupted: bool,
    /// Whether the result is valid. A process that shares its run has measured a part, and this is the verdict on the whole.
    pub valid: bool,
}

pub type Show<'a> = &'a mut dyn FnMut(&Run, &Analysis) -> Result<()>;

pub trait Coordination: Send + Sync {
    /// Whether this process loads and prepares its target, checks it and reads its counters: one process for each target does.
    fn leads_target(&self) -> bool;

    /// Whether this process calls the user's hooks: one process of a run does.
    fn leads_run(&self) -> bool;

    /// Number of the `sessions` of a step that work on the target of this process, in any process.
    fn sessions_on_target(&self, sessions: u32) -> u32;

    fn own_sessions(&self, all: Vec<Placement>) -> Vec<Placement>;

    /// `error`, preceded by the name of its target where the run has several.
    fn at_target(&self, error: Error) -> Error;

    /// Waits until all processes of the run have come.
    ///
    /// # Errors
    /// One does not come in time, or was started with another plan.
    fn gather(&self) -> Result<()>;

    /// The process that leads its target has loaded and prepared it. Any other process waits here until that is so.
    fn target_prepared(&self) -> Result<()>;

    /// All sessions of this process are connected, and need `lead` from the decision until they can begin.
    fn ready(&self, lead: Duration) -> Result<()>;

    /// The start instant of all sessions, by the target's clock in microseconds since the epoch; `None` until it is
    /// decided. `now_us` is the present by that clock, which is ahead of this host's by `target`.
    fn start(&self, now_us: i64, lead: Duration, target: &ClockOffset) -> Result<Option<i64>>;

    /// The sessions of this process begin at `start_us`, and work until `ends` by this host's clock, if known.
    fn started(&self, start_us: i64, target: &ClockOffset, ends: Option<Duration>) -> Result<()>;

    /// While sessions work: whether the other processes still do.
    ///
    /// # Errors
    /// One has failed or is gone.
    fn check_others(&self) -> Result<()>;

    /// A step with `sessions` in all processes succeeded: records the sessions of this process.
    fn step_ended(&self, sessions: u32, events: &dyn Events);

    /// Called after this process has stored its measurements. The first process creates the result of the run, shows it
    /// and calls the last hook; the others wait for it.
    ///
    /// # Errors
    /// The error that ended the run for all processes.
    fn finish(&self, context: &Context, own: Ended, show: Show<'_>) -> Result<Ended>;

    /// Ends the run of all reachable processes with `error`.
    fn fail(&self, error: &Error);
}

/// One process makes the whole run.
pub struct Alone;

impl Coordination for Alone {
    fn leads_target(&self) -> bool {
        true
    }

    fn leads_run(&self) -> bool {
        true
    }

    fn sessions_on_target(&self, sessions: u32) -> u32 {
        sessions
    }

    fn own_sessions(&self, all: Vec<Placement>) -> Vec<Placement> {
        all
    }

    fn at_target(&self, error: Error) -> Error {
        error
    }

    fn gather(&self) -> Result<()> {
        Ok(())
    }

    fn target_prepared(&self) -> Result<()> {
        Ok(())
    }

    fn ready(&self, _lead: Duration) -> Result<()> {
        Ok(())
    }

    fn start(&self, now_us: i64, lead: Duration, _target: &ClockOffset) -> Result<Option<i64>> {
        Ok(Some(now_us + lead.as_micros() as i64))
    }

    fn started(&self, _start_us: i64, _target: &ClockOffset, _ends: Option<Duration>) -> Result<()> {
        Ok(())
    }

    fn check_others(&self) -> Result<()> {
        Ok(())
    }

    fn step_ended(&self, _sessions: u32, _events: &dyn Events) {}

    fn finish(&self, context: &Context, own: Ended, show: Show<'_>) -> Result<Ended> {
        show(&own.run, &own.analysis)?;
        let hooked = context.hook(HookMoment::End, &own.run.head.id);
        let valid = own.analysis.summary.validity != Validity::Invalid;
        Ok(Ended { error: own.error.or(hooked.err()), valid, ..own })
    }

    fn fail(&self, _error: &Error) {}
}
