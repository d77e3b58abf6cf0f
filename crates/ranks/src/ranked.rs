//! The runner's coordination for a process that is one of several ranks.

use std::time::Duration;

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::Placement;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_record::part;
use mindful_runner::{ClockOffset, Context, Coordination, Ended, HookMoment, Show};

use crate::coordinator::RankCoordinator;
use crate::join_request::JoinRequest;
use crate::merge::store_merged;
use crate::run_merge::part_of;

pub struct Ranked(RankCoordinator);

impl Ranked {
    /// Joins the other ranks.
    pub fn join(request: JoinRequest) -> Result<Self> {
        RankCoordinator::join(request).map(Self)
    }
}

impl Coordination for Ranked {
    fn leads_target(&self) -> bool {
        self.0.rank().leads()
    }

    fn leads_run(&self) -> bool {
        self.0.is_first()
    }

    fn sessions_on_target(&self, sessions: u32) -> u32 {
        self.0.rank().own_target_sessions(sessions).len() as u32
    }

    fn own_sessions(&self, all: Vec<Placement>) -> Vec<Placement> {
        let share = self.0.rank().own_sessions(all.len() as u32);
        all.get(share.start as usize..share.end as usize).unwrap_or_default().to_vec()
    }

    fn at_target(&self, error: Error) -> Error {
        self.0.at_target(error)
    }

    fn gather(&self) -> Result<()> {
        self.0.gather()
    }

    fn target_prepared(&self) -> Result<()> {
        self.0.target_prepared()
    }

    fn ready(&self, lead: Duration) -> Result<()> {
        self.0.ready(lead)
    }

    fn start(&self, now_us: i64, _lead: Duration, target: &ClockOffset) -> Result<Option<i64>> {
        let start = self.0.start(target)?;
        match start.map(|start_us| now_us - start_us).filter(|late_us| *late_us > 0) {
            None => Ok(start),
            Some(late_us) => Err(Error::run(
                format!("this rank received the start {:.1} s too late", late_us as f64 / 1e6),
                "find out why its host or the place where ranks meet is slow, and run again",
            )),
        }
    }

    fn started(&self, start_us: i64, target: &ClockOffset, ends: Option<Duration>) -> Result<()> {
        self.0.started(start_us, target, ends)
    }

    fn check_others(&self) -> Result<()> {
        self.0.check_others()
    }

    fn step_ended(&self, sessions: u32, events: &dyn Events) {
        events.emit(Event::Rank(self.0.record(sessions)));
    }

    /// Rank 0 merges, stores and shows the parts of all ranks. The others leave their part and return it, with the
    /// verdict of rank 0.
    fn finish(&self, context: &Context, own: Ended, show: Show<'_>) -> Result<Ended> {
        if own.interrupted {
            let id = &own.run.head.id;
            return Err(Error::interrupted(format!("interrupted; the measurements of this rank are stored as {id}")));
        }
        if let Some(error) = own.error {
            return Err(error);
        }
        if !self.0.is_first() {
            self.0.leave_part(&part::pack(&part_of(&own.run)?)?)?;
            return Ok(Ended { valid: self.0.end(false)?, ..own });
        }
        let (run, analysis) = store_merged(&context.store, self.0.collect(&own.run)?, true)?;
        show(&run, &analysis)?;
        context.hook(HookMoment::End, &run.head.id)?;
        let valid = self.0.end(analysis.summary.validity != Validity::Invalid)?;
        Ok(Ended { run, analysis, valid, ..own })
    }

    fn fail(&self, error: &Error) {
        self.0.fail(error);
    }
}
