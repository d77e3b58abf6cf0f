//! The protocol by which ranks begin and end together.
//!
//! Rank 0 reads the rows of all ranks and decides; every other rank reads only the row of rank 0. All ranks join,
//! gather, prepare their target and connect their sessions. When all are ready, rank 0 publishes the start instant by
//! the clock of the rendezvous. Each rank translates it to the clock of its target, so hosts need no common time. In
//! the measured window a rank sends a heartbeat occasionally, and in a short window none. Afterwards each rank leaves
//! its part in chunks, rank 0 collects them, and all end with the verdict of rank 0.
//!
//! The first rank of each of several targets manages that target, as rank 0 does for the first.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::plan::units::format_duration;
use mindful_core::ranks::Rank;
use mindful_core::ranks::rendezvous::MAX_CHUNK_BYTES;
use mindful_core::record::run::{RankRecord, RankTarget, Run};
use mindful_core::{Error, Result};
use mindful_record::part;
use mindful_runner::{AbortWatchdog, ClockOffset, STEP_GRACE};
use parking_lot::Mutex;

use crate::heartbeat::BEAT_AT_WORK;
use crate::join_request::JoinRequest;
use crate::peers::{Peers, list_ranks};
use crate::rank_state::{LEASE, RankState, Stage};
use crate::run_merge::{RunMerge, cannot_merge};

pub struct RankCoordinator {
    peers: Peers,
    state: Mutex<State>,
    // Dropped last: until then the heartbeat may wait for the rendezvous.
    _watchdog: AbortWatchdog,
}

#[derive(Default)]
struct State {
    /// When the rows were last read for the start instant.
    last_read: Option<Duration>,
    ready_by: Option<Duration>,
    /// The rendezvous' clock minus the host's.
    offset: Option<ClockOffset>,
    /// By the clock of the target.
    start_us: i64,
}

impl RankCoordinator {
    /// Joins the other ranks.
    pub fn join(request: JoinRequest) -> Result<Self> {
        // A rank that is asked to stop first ends its step, and informs the others.
        let aborted = Arc::clone(&request.rendezvous);
        let watchdog = AbortWatchdog::watch(&request.stop, || STEP_GRACE, move || aborted.abort());
        request.rendezvous.prepare()?;
        Ok(Self { peers: Peers::join(request)?, state: Mutex::default(), _watchdog: watchdog })
    }

    pub(crate) fn rank(&self) -> &Rank {
        &self.peers.request.rank
    }

    /// Whether it is rank 0.
    pub(crate) fn is_first(&self) -> bool {
        self.peers.is_first()
    }

    /// `error`, preceded by the name of this rank's target if the run has several.
    pub(crate) fn at_target(&self, error: Error) -> Error {
        match self.peers.request.targets.get(self.rank().target() as usize) {
            Some(url) => error.at(format_args!("target {}, {url}", self.rank().target() + 1)),
            None => error,
        }
    }

    /// Waits until all ranks have joined, with the same plan.
    pub fn gather(&self) -> Result<()> {
        if !self.is_first() {
            return self.peers.await_first(Stage::Gathered, Some(self.peers.request.timeout + LEASE)).map(drop);
        }
        self.peers.await_all_joined()?;
        self.peers.publish(LEASE, |state| state.stage = Stage::Gathered)
    }

    /// The first rank of a target: the target is prepared. Rank 0 waits until all targets are, the others wait for rank 0.
    pub fn target_prepared(&self) -> Result<()> {
        let rank = self.rank();
        if !rank.leads() {
            return self.peers.await_first(Stage::Prepared, None).map(drop);
        }
        let leaders: Vec<u32> = (1..rank.assignment.targets()).map(|target| rank.target_ranks(target).start).collect();
        let waits = |all: &[(u32, RankState)]| {
            all.iter().any(|(rank, state)| leaders.contains(rank) && state.stage < Stage::Prepared)
        };
        while self.is_first() && !leaders.is_empty() && waits(&self.peers.all()?) {
            self.peers.pause()?;
        }
        self.peers.publish(LEASE, |state| state.stage = Stage::Prepared)
    }

    /// All sessions of this rank are connected and warm, and need `lead` until they can begin.
    pub fn ready(&self, lead: Duration) -> Result<()> {
        let request = &self.peers.request;
        let offset = ClockOffset::read(&|| request.rendezvous.now_us(), &*request.clock)?;
        let mut state = self.state.lock();
        state.offset = Some(offset);
        state.ready_by = Some(request.clock.elapsed() + request.timeout);
        drop(state);
        let lead_us = Some(lead.as_micros() as u64);
        self.peers.publish(LEASE, |state| {
            (state.stage, state.lead_us) = (Stage::Ready, lead_us);
            // All plans are known to be the same.
            state.marks.clear();
        })
    }

    /// The common start, by the clock of the target, us since the epoch; `None` until it is decided. `target` is the
    /// target's clock minus the host's. Called repeatedly, it reads the rows occasionally.
    pub(crate) fn start(&self, target: &ClockOffset) -> Result<Option<i64>> {
        let (now, mut state) = (self.peers.request.clock.elapsed(), self.state.lock());
        if state.last_read.is_some_and(|read| now < read + self.peers.read_interval()) {
            return Ok(None);
        }
        state.last_read = Some(now);
        let apart_us = self.apart_us(&state, target);
        drop(state);
        let start_us = if self.is_first() {
            self.choose_start()?
        } else {
            self.peers.first(Stage::Ready)?.and_then(|s| s.start_us)
        };
        Ok(start_us.map(|us| us.saturating_add(apart_us)))
    }

    /// Rank 0: the instant at which all begin, once all are ready.
    fn choose_start(&self) -> Result<Option<i64>> {
        let all = self.peers.all()?;
        let late: Vec<u32> =
            all.iter().filter(|(_, state)| state.stage < Stage::Ready).map(|(rank, _)| *rank).collect();
        let request = &self.peers.request;
        if late.is_empty() {
            let lead_us = all.iter().filter_map(|(_, state)| state.lead_us).max().unwrap_or(0);
            // Each rank reads the instant once more, and then uses only its own clock.
            let lead = Duration::from_micros(lead_us) + self.peers.read_interval() * 3;
            return Ok(Some(request.rendezvous.now_us()? + lead.as_micros() as i64));
        }
        if self.state.lock().ready_by.is_some_and(|by| request.clock.elapsed() >= by) {
            return Err(Error::target(
                format!("{} not connected within {}", list_ranks(&late), format_duration(request.timeout)),
                "read their output, or pass a longer --meet-timeout",
            ));
        }
        Ok(None)
    }

    /// The sessions of this rank begin at `start_us` by the clock of the target, and work until `ends` by that of this
    /// host. From here on, heartbeats are rare.
    pub(crate) fn started(&self, start_us: i64, target: &ClockOffset, ends: Option<Duration>) -> Result<()> {
        self.peers.set_started();
        let mut state = self.state.lock();
        state.start_us = start_us;
        let apart_us = self.apart_us(&state, target);
        drop(state);
        let (first, lease) = (self.is_first(), self.peers.heartbeat.slow_until(ends.unwrap_or(Duration::MAX)));
        self.peers.publish(lease, |state| {
            state.start_us = first.then_some(start_us - apart_us);
        })
    }

    /// Checks the other ranks while sessions work, by the last reading of the heartbeat.
    pub(crate) fn check_others(&self) -> Result<()> {
        if !self.peers.heartbeat.is_slow() {
            return Ok(());
        }
        match self.peers.heartbeat.take_seen()? {
            None => Ok(()),
            Some(seen) if self.is_first() => self.peers.judge_all(&seen).map(drop),
            Some(seen) => self.peers.judge_first(seen.into_iter().next(), Stage::Gathered).map(drop),
        }
    }

    /// The record of this rank in a step with `sessions` on all ranks.
    pub(crate) fn record(&self, sessions: u32) -> RankRecord {
        let (state, rank, request) = (self.state.lock(), self.rank(), &self.peers.request);
        let (share, target) = (rank.own_sessions(sessions), rank.target());
        let (targets, ranks) = (rank.assignment.targets(), rank.target_ranks(target));
        let on = RankTarget { target, targets, first_rank: ranks.start, ranks: ranks.len() as u32 };
        let precision_us = request.rendezvous.precision_us();
        RankRecord {
            rank: rank.number,
            ranks: rank.count,
            job: request.job.clone(),
            host: request.host.clone(),
            first_session: share.start,
            sessions: share.len() as u32,
            on_target: Some(on).filter(|on| on.targets > 1),
            clock_offset_us: state.offset.as_ref().map(|offset| offset.us),
            clock_within_us: state.offset.as_ref().map(|offset| offset.within_us() + precision_us),
            start_us: state.start_us,
            ..RankRecord::default()
        }
    }

    pub fn leave_part(&self, part: &[u8]) -> Result<()> {
        let request = &self.peers.request;
        let chunks: Vec<&[u8]> = part.chunks(MAX_CHUNK_BYTES).collect();
        for (number, chunk) in chunks.iter().enumerate() {
            request.rendezvous.write_chunk(&request.job, request.rank.number, number as u32, chunk)?;
        }
        self.peers.publish(LEASE, |state| (state.stage, state.chunks) = (Stage::Measured, Some(chunks.len() as u32)))
    }

    /// Rank 0: adds the parts of the other ranks to its own run, in the order in which they come.
    pub fn collect(&self, own: &Run) -> Result<RunMerge> {
        let (mut merge, request) = (RunMerge::new(own)?, &self.peers.request);
        let mut left: Vec<u32> = (1..request.rank.count).collect();
        self.peers.heartbeat.resume();
        while !left.is_empty() {
            for (rank, state) in self.peers.all()? {
                let Some(chunks) = state.chunks.filter(|_| left.contains(&rank)) else { continue };
                let mut part = Vec::new();
                for number in 0..chunks {
                    let chunk = request.rendezvous.read_chunk(&request.job, rank, number)?;
                    part.extend(chunk.ok_or_else(|| self.peers.lost(rank, &state.host))?);
                }
                let part = part::unpack(&part).map_err(|error| error.at(format_args!("rank {rank}")))?;
                merge.add(part).map_err(cannot_merge)?;
                left.retain(|waits| *waits != rank);
            }
            if !left.is_empty() {
                self.peers.pause()?;
            }
        }
        Ok(merge)
    }

    /// Rank 0: publishes whether the run is `valid`, waits until the others have left, and clears the job. Any other rank waits
    /// for that and returns the verdict of rank 0.
    pub fn end(&self, valid: bool) -> Result<bool> {
        self.peers.heartbeat.resume();
        if self.is_first() {
            self.peers.publish(LEASE, |state| (state.stage, state.valid) = (Stage::Ended, Some(valid)))?;
            self.peers.drain(LEASE)?;
            return Ok(valid);
        }
        let first = self.peers.await_first(Stage::Ended, None)?;
        self.peers.remove_own();
        Ok(first.valid.unwrap_or(false))
    }

    /// Ends the run of all ranks with `error`. An unreachable rank notices the missing heartbeat.
    pub(crate) fn fail(&self, error: &Error) {
        // While sessions work, the others read rarely.
        let patience = LEASE + if self.peers.heartbeat.is_slow() { BEAT_AT_WORK } else { Duration::ZERO };
        self.peers.heartbeat.resume();
        let _ = self.peers.publish(LEASE, |state| state.failed = Some(error.clone()));
        if self.is_first() {
            let _ = self.peers.drain(patience);
        }
    }

    /// Lead of the target's clock over the rendezvous'.
    fn apart_us(&self, state: &State, target: &ClockOffset) -> i64 {
        let precision_us = self.peers.request.rendezvous.precision_us();
        state.offset.as_ref().map_or(0, |offset| target.apart_from(offset, precision_us))
    }
}
