//! The other ranks, as their rows show them: their progress, and whether they still run.
//!
//! A rank is gone if its lease is over by the clock of the rendezvous, or if its row reports a failure. It is also gone
//! if the row has the token of another process. A launcher that restarts a rank in the middle of a run does not restore
//! its sessions.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::{format_counted, format_duration};
use mindful_core::ranks::Rank;
use mindful_core::ranks::rendezvous::PeerRow;
use mindful_core::{Error, Result};
use parking_lot::Mutex;

use crate::heartbeat::{Heartbeat, LEASE_AT_WORK};
use crate::join_request::JoinRequest;
use crate::rank_state::{LEASE, OwnRow, RankState, Stage};

/// Time between two reads of the rows, if ranks are few.
const READ_INTERVAL: Duration = Duration::from_millis(100);
/// Added for each rank, so that the rendezvous answers about a thousand reads a second for any number of ranks.
const READ_INTERVAL_PER_RANK: Duration = Duration::from_millis(1);

pub(crate) struct Peers {
    pub(crate) request: JoinRequest,
    pub(crate) heartbeat: Heartbeat,
    own: Arc<OwnRow>,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    /// Tokens by rank. Rank 0 has all after all have joined; the others have that of rank 0.
    tokens: Vec<String>,
    first_host: Option<String>,
    started: bool,
}

impl Peers {
    /// Takes the row of this rank at the rendezvous.
    pub(crate) fn join(request: JoinRequest) -> Result<Self> {
        let row = request.row();
        let until = request.clock.elapsed() + LEASE + READ_INTERVAL;
        // A process that has just died holds its row until its lease is over.
        while let Some(held) = request.rendezvous.claim_rank(&request.job, &row, LEASE)? {
            if request.clock.elapsed() >= until {
                return Err(request.held_twice(request.rank.number, &held));
            }
            sleep(&*request.clock, &request.stop, READ_INTERVAL * 5)?;
        }
        let (rendezvous, job) = (Arc::clone(&request.rendezvous), request.job.clone());
        let own = Arc::new(OwnRow { rendezvous, job, row: Mutex::new(row) });
        let heartbeat = Heartbeat::start(&own, &request.clock)?;
        Ok(Self { request, heartbeat, own, known: Mutex::default() })
    }

    pub(crate) fn is_first(&self) -> bool {
        self.request.rank.number == 0
    }

    /// Sessions have their start instant: from here on, the loss of a rank is the loss of a measurement.
    pub(crate) fn set_started(&self) {
        self.known.lock().started = true;
    }

    /// Changes the row of this rank and renews it for `lease`.
    pub(crate) fn publish(&self, lease: Duration, change: impl FnOnce(&mut RankState)) -> Result<()> {
        let mut row = self.own.row.lock();
        if let Some(mut state) = RankState::parse(&row.body) {
            change(&mut state);
            row.body = state.to_body();
        }
        if self.request.rendezvous.update_row(&self.request.job, &row, lease)? {
            return Ok(());
        }
        Err(self.request.held_twice(row.rank, &row))
    }

    /// Rank 0: waits until all ranks have joined with the same plan.
    pub(crate) fn await_all_joined(&self) -> Result<()> {
        let until = self.request.clock.elapsed() + self.request.timeout;
        loop {
            let seen = self.request.rendezvous.read_rows(&self.request.job)?;
            let alive: Vec<&PeerRow> = seen.iter().filter(|seen| !seen.expired).collect();
            for seen in &alive {
                self.request.refuse_mismatch(seen)?;
            }
            if alive.len() >= self.request.rank.count as usize {
                self.known.lock().tokens = alive.iter().map(|seen| seen.row.token.clone()).collect();
                return Ok(());
            }
            if self.request.clock.elapsed() >= until {
                return Err(self.missing(&alive));
            }
            self.pause()?;
        }
    }

    /// Waits until rank 0 has come to `stage`, for at most `limit`.
    pub(crate) fn await_first(&self, stage: Stage, limit: Option<Duration>) -> Result<RankState> {
        let until = limit.map(|limit| self.request.clock.elapsed() + limit);
        loop {
            if let Some(state) = self.first(stage)? {
                return Ok(state);
            }
            if until.is_some_and(|until| self.request.clock.elapsed() >= until) {
                return Err(self.missing(&[]));
            }
            self.pause()?;
        }
    }

    /// Rank 0: all ranks by number.
    ///
    /// # Errors
    /// One of them failed, is gone, or is another process than before.
    pub(crate) fn all(&self) -> Result<Vec<(u32, RankState)>> {
        self.judge_all(&self.request.rendezvous.read_rows(&self.request.job)?)
    }

    /// The same of rows that were read already.
    pub(crate) fn judge_all(&self, seen: &[PeerRow]) -> Result<Vec<(u32, RankState)>> {
        self.heartbeat.check()?;
        let tokens = self.known.lock().tokens.clone();
        let mut states = Vec::new();
        for (rank, token) in (0..).zip(&tokens) {
            let Some(seen) = seen.iter().find(|seen| seen.row.rank == rank) else {
                return Err(self.lost(rank, "a host that is not known"));
            };
            let Some(state) = RankState::parse(&seen.row.body) else { return Err(self.request.unreadable(rank)) };
            if seen.row.token != *token {
                return Err(self.request.held_twice(rank, &seen.row));
            }
            if let Some(failed) = &state.failed {
                return Err(failed.clone().at(format_args!("rank {rank} on {}", state.host)));
            }
            if seen.expired && rank != 0 {
                return Err(self.lost(rank, &state.host));
            }
            states.push((rank, state));
        }
        Ok(states)
    }

    pub(crate) fn first(&self, stage: Stage) -> Result<Option<RankState>> {
        self.judge_first(self.request.rendezvous.read_row(&self.request.job, 0)?, stage)
    }

    pub(crate) fn judge_first(&self, seen: Option<PeerRow>, least: Stage) -> Result<Option<RankState>> {
        self.heartbeat.check()?;
        let known = !self.known.lock().tokens.is_empty();
        let Some(seen) = seen.filter(|seen| known || !seen.expired) else {
            let host = self.known.lock().first_host.clone().unwrap_or_default();
            return if known { Err(self.lost_first(&host)) } else { Ok(None) };
        };
        let Some(state) = RankState::parse(&seen.row.body) else { return Err(self.request.unreadable(0)) };
        let mut first = self.known.lock();
        if first.tokens.is_empty() {
            first.tokens.push(seen.row.token.clone());
            first.first_host = Some(state.host.clone());
        }
        let same = first.tokens.first() == Some(&seen.row.token);
        drop(first);
        if let Some(failed) = &state.failed {
            self.remove_own();
            return Err(failed.clone());
        }
        if seen.expired || !same {
            return Err(self.lost_first(&state.host));
        }
        Ok(Some(state).filter(|state| state.stage >= least))
    }

    /// Rank 0: waits until the others have left, for at most `patience`, and clears the job.
    pub(crate) fn drain(&self, patience: Duration) -> Result<()> {
        let until = self.request.clock.elapsed() + patience;
        loop {
            let seen = self.request.rendezvous.read_rows(&self.request.job)?;
            let stays = |seen: &PeerRow| {
                let state = RankState::parse(&seen.row.body);
                seen.row.rank != 0 && !seen.expired && state.is_some_and(|state| state.failed.is_none())
            };
            let over = self.request.clock.elapsed() >= until || self.request.stop.is_requested();
            if over || !seen.iter().any(stays) {
                break;
            }
            sleep(&*self.request.clock, &StopFlag::default(), self.read_interval())?;
        }
        self.heartbeat.stop();
        self.request.rendezvous.remove_rows(&self.request.job, None)
    }

    pub(crate) fn remove_own(&self) {
        self.heartbeat.stop();
        // Remaining rows expire.
        let _ = self.request.rendezvous.remove_rows(&self.request.job, Some(self.request.rank.number));
    }

    pub(crate) fn read_interval(&self) -> Duration {
        READ_INTERVAL + READ_INTERVAL_PER_RANK * self.request.rank.count
    }

    /// Waits until the next reading of the rows is due.
    pub(crate) fn pause(&self) -> Result<()> {
        sleep(&*self.request.clock, &self.request.stop, self.read_interval())
    }

    /// The error of a rank that has no row or does not renew it.
    pub(crate) fn lost(&self, rank: u32, host: &str) -> Error {
        let lease = if self.heartbeat.is_slow() { LEASE_AT_WORK } else { LEASE };
        let of_rank = Rank { number: rank, ..self.request.rank.clone() };
        let url = self.request.targets.get(of_rank.target() as usize);
        let on = url.map_or_else(String::new, |url| format!(" with target {}, {url},", of_rank.target() + 1));
        let what =
            format!("rank {rank} on {host}{on} is gone: it did not renew its row for {}", format_duration(lease));
        let next = "check its host and the output of its launcher, and run again";
        if self.known.lock().started { Error::run(what, next) } else { Error::target(what, next) }
    }

    /// Rank 0 is gone, so this rank removes the remains of rank 0.
    fn lost_first(&self, host: &str) -> Error {
        let _ = self.request.rendezvous.remove_rows(&self.request.job, Some(0));
        self.remove_own();
        self.lost(0, host)
    }

    fn missing(&self, joined: &[&PeerRow]) -> Error {
        let absent = |rank: &u32| joined.iter().all(|seen| seen.row.rank != *rank);
        let expected = if self.is_first() { 0..self.request.rank.count } else { 0..1 };
        let absent: Vec<u32> = expected.filter(absent).collect();
        Error::target(
            format!(
                "{} of {} did not join job {} in {} within {}",
                list_ranks(&absent),
                self.request.rank.count,
                self.request.job,
                self.request.rendezvous.location(),
                format_duration(self.request.timeout)
            ),
            "check that all were started and can reach that place, or pass a longer --meet-timeout",
        )
    }
}

fn sleep(clock: &dyn Clock, stop: &StopFlag, time: Duration) -> Result<()> {
    clock.sleep_unless(clock.now_us() + time.as_micros() as i64, &|| stop.is_requested());
    if stop.is_requested() { Err(Error::interrupted("interrupted while ranks met")) } else { Ok(()) }
}

/// `ranks 2, 3`; of many only the first few.
pub(crate) fn list_ranks(ranks: &[u32]) -> String {
    let some: Vec<String> = ranks.iter().take(5).map(u32::to_string).collect();
    let more = ranks.len().saturating_sub(some.len());
    let ranks = if ranks.len() == 1 { "rank" } else { "ranks" };
    let rest = if more > 0 { format!(" and {}", format_counted(more as u64, "other")) } else { String::new() };
    format!("{ranks} {}{rest}", some.join(", "))
}
