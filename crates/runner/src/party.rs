//! A rank among its like: it joins them, waits for the first one and starts when all do. The first rank alone looks at
//! everybody and decides; the others look at its row alone, so what the meeting bears grows with the ranks, not with their
//! square. In the measured window a sign of life now and then is all; in a short one, nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::format_counted;
use mindful_core::ranks::rank::Rank;
use mindful_core::ranks::rendezvous::{MAX_CHUNK_BYTES, PeerRow, RankRow};
use mindful_core::record::run::{RankRecord, RankTarget};
use mindful_core::{Error, Result};

use crate::clock_offset::ClockOffset;
use crate::heeding::{GRACE_OF_STEP, GivingUp};
use heart::{BEAT_AT_WORK, Heart, LEASE_AT_WORK};
use member::{Failure, Member, Own, Stage};

mod heart;
mod invitation;
mod member;

pub use invitation::Invitation;
pub use member::LEASE;

/// Between two looks, where there are few ranks.
const LOOK: Duration = Duration::from_millis(100);
/// So much longer for each rank: so the meeting answers about a thousand looks a second, however many there are.
const LOOK_PER_RANK: Duration = Duration::from_millis(1);

/// See the [module](self).
pub struct Party {
    guest: Invitation,
    own: Arc<Own>,
    heart: Heart,
    state: Mutex<State>,
    // Goes last: until then the heart may wait for the meeting.
    _giving_up: GivingUp,
}

#[derive(Default)]
struct State {
    /// Processes by rank, as they were when all had come.
    tokens: Vec<String>,
    /// Host of the first one, once it was seen.
    first_host: Option<String>,
    /// When something was last looked at, and by when everybody must be ready.
    looked: Option<Duration>,
    ready_by: Option<Duration>,
    /// The meeting's clock minus this host's.
    clock: Option<ClockOffset>,
    started: bool,
    /// By the target's clock.
    start_us: i64,
}

impl Party {
    /// Joins the others.
    ///
    /// # Errors
    /// Another process is there as this rank, or the meeting cannot be used.
    pub fn join(guest: Invitation) -> Result<Self> {
        // A rank that is asked to stop first ends its step, and tells the others.
        let given_up = Arc::clone(&guest.meeting);
        let giving_up = GivingUp::after(&guest.stop, || GRACE_OF_STEP, move || given_up.abort());
        guest.meeting.prepare()?;
        let token = guest.token();
        let member = Member {
            of: guest.rank.count,
            host: guest.host.clone(),
            version: guest.version.clone(),
            plan: guest.plan.clone(),
            marks: guest.marks.iter().map(|(_, mark)| mark.as_str()).collect(),
            stage: Stage::Joined,
            lead_us: None,
            start_us: None,
            chunks: None,
            valid: None,
            failed: None,
        };
        let row = RankRow { rank: guest.rank.number, token, body: member.body() };
        let until = guest.clock.elapsed() + LEASE + LOOK;
        // A process that died a moment ago holds its place until its lease is over.
        while let Some(held) = guest.meeting.claim_rank(&guest.job, &row, LEASE)? {
            if guest.clock.elapsed() >= until {
                return Err(guest.twice(guest.rank.number, &held));
            }
            nap(&*guest.clock, &guest.stop, LOOK * 5)?;
        }
        let own = Arc::new(Own { meeting: Arc::clone(&guest.meeting), job: guest.job.clone(), row: Mutex::new(row) });
        let heart = Heart::new(&own, &guest.clock)?;
        Ok(Self { guest, own, heart, state: Mutex::default(), _giving_up: giving_up })
    }

    /// Which rank it is.
    pub fn rank(&self) -> &Rank {
        &self.guest.rank
    }

    /// Whether it is the first rank, which looks after the target and tells the result.
    pub fn is_first(&self) -> bool {
        self.guest.rank.number == 0
    }

    /// `error`, with the target in front that this rank works on where there are several.
    pub fn at_target(&self, error: Error) -> Error {
        match self.guest.targets.get(self.guest.rank.target() as usize) {
            Some(url) => error.at(format_args!("target {}, {url}", self.guest.rank.target() + 1)),
            None => error,
        }
    }

    /// Where the ranks meet, for messages.
    pub fn place(&self) -> String {
        self.guest.meeting.location()
    }

    /// Waits until all ranks are there, and alike.
    ///
    /// # Errors
    /// One does not come in time, or has another plan or version.
    pub fn gather(&self) -> Result<()> {
        if !self.is_first() {
            return self.await_first(Stage::Gathered, Some(self.guest.timeout + LEASE)).map(drop);
        }
        let until = self.guest.clock.elapsed() + self.guest.timeout;
        loop {
            let seen = self.guest.meeting.read_rows(&self.guest.job)?;
            let there: Vec<&PeerRow> = seen.iter().filter(|seen| !seen.expired).collect();
            for seen in &there {
                self.guest.refuse_unlike(seen)?;
            }
            if there.len() >= self.guest.rank.count as usize {
                self.state().tokens = there.iter().map(|seen| seen.row.token.clone()).collect();
                return self.say(LEASE, |member| member.stage = Stage::Gathered);
            }
            if self.guest.clock.elapsed() >= until {
                return Err(self.missing(&there));
            }
            self.pause()?;
        }
    }

    /// Whether it is the first rank of its target, which looks after that.
    pub fn leads(&self) -> bool {
        self.guest.rank.leads()
    }

    /// A rank that looks after a target: the dataset is there and the target is ready. Another one waits until that is so of
    /// all targets, as the first rank tells.
    pub fn prepared(&self) -> Result<()> {
        if !self.leads() {
            return self.await_first(Stage::Prepared, None).map(drop);
        }
        let rank = &self.guest.rank;
        let leaders: Vec<u32> = (1..rank.assignment.targets()).map(|target| rank.target_ranks(target).start).collect();
        let late = |all: &[(u32, Member)]| {
            all.iter().any(|(rank, member)| leaders.contains(rank) && member.stage < Stage::Prepared)
        };
        while self.is_first() && !leaders.is_empty() && late(&self.everybody()?) {
            self.pause()?;
        }
        self.say(LEASE, |member| member.stage = Stage::Prepared)
    }

    /// All sessions of this rank are connected and warm, and begin after `lead` at the soonest.
    pub fn ready(&self, lead: Duration) -> Result<()> {
        let offset = ClockOffset::read(&|| self.guest.meeting.now_us(), &*self.guest.clock)?;
        let mut state = self.state();
        state.clock = Some(offset);
        state.ready_by = Some(self.guest.clock.elapsed() + self.guest.timeout);
        drop(state);
        let lead_us = Some(lead.as_micros() as u64);
        self.say(LEASE, |member| {
            (member.stage, member.lead_us) = (Stage::Ready, lead_us);
            // All are alike by now.
            member.marks.clear();
        })
    }

    /// When all begin, by the target's clock, us since the epoch; `None` as long as that is not decided. `target` is the
    /// target's clock against this host's. Asked again and again, it looks now and then.
    pub fn start(&self, target: &ClockOffset) -> Result<Option<i64>> {
        let (now, mut state) = (self.guest.clock.elapsed(), self.state());
        if state.looked.is_some_and(|looked| now < looked + self.look()) {
            return Ok(None);
        }
        state.looked = Some(now);
        let apart_us = state.clock.as_ref().map_or(0, |meeting| target.apart_from(meeting, self.precision_us()));
        drop(state);
        let start_us =
            if self.is_first() { self.choose()? } else { self.first(Stage::Ready)?.and_then(|m| m.start_us) };
        Ok(start_us.map(|us| us.saturating_add(apart_us)))
    }

    /// The first rank: the instant at which all begin, once all are ready.
    fn choose(&self) -> Result<Option<i64>> {
        let all = self.everybody()?;
        let late: Vec<u32> =
            all.iter().filter(|(_, member)| member.stage < Stage::Ready).map(|(rank, _)| *rank).collect();
        if late.is_empty() {
            let lead_us = all.iter().filter_map(|(_, member)| member.lead_us).max().unwrap_or(0);
            // Each looks once more, and its own clock decides when.
            let lead = Duration::from_micros(lead_us) + self.look() * 3;
            return Ok(Some(self.guest.meeting.now_us()? + lead.as_micros() as i64));
        }
        if self.state().ready_by.is_some_and(|by| self.guest.clock.elapsed() >= by) {
            return Err(Error::target(
                format!("{} not connected within {}", names(&late), seconds(self.guest.timeout)),
                "look at what they say, or give a longer --meet-timeout",
            ));
        }
        Ok(None)
    }

    /// The start is known, by the target's clock, and so is when the work ends, by this host's: from now until then there is
    /// a sign of life now and then, none where it ends soon.
    pub fn go(&self, start_us: i64, target: &ClockOffset, ends: Option<Duration>) -> Result<()> {
        let mut state = self.state();
        (state.started, state.start_us) = (true, start_us);
        let apart_us = state.clock.as_ref().map_or(0, |meeting| target.apart_from(meeting, self.precision_us()));
        drop(state);
        let (first, lease) = (self.is_first(), self.heart.slow_until(ends.unwrap_or(Duration::MAX)));
        self.say(lease, |member| {
            member.start_us = first.then_some(start_us - apart_us);
        })
    }

    /// Looks now and then, while sessions work, whether the others still do.
    ///
    /// # Errors
    /// One of them failed or is gone, which who is not the first learns from that one; or nobody answers.
    pub fn watch(&self) -> Result<()> {
        if !self.heart.works_long() {
            return Ok(());
        }
        match self.heart.seen()? {
            None => Ok(()),
            Some(seen) if self.is_first() => self.judged(&seen).map(drop),
            Some(seen) => self.first_of(seen.into_iter().next(), Stage::Gathered).map(drop),
        }
    }

    /// What is stored of this rank, among `sessions` of all.
    pub fn record(&self, sessions: u32) -> RankRecord {
        let (state, rank) = (self.state(), &self.guest.rank);
        let (share, target) = (rank.own_sessions(sessions), rank.target());
        let (targets, ranks) = (rank.assignment.targets(), rank.target_ranks(target));
        let on = RankTarget { target, targets, first_rank: ranks.start, ranks: ranks.len() as u32 };
        RankRecord {
            rank: self.guest.rank.number,
            ranks: self.guest.rank.count,
            job: self.guest.job.clone(),
            host: self.guest.host.clone(),
            first_session: share.start,
            sessions: share.len() as u32,
            on_target: Some(on).filter(|on| on.targets > 1),
            clock_offset_us: state.clock.as_ref().map(|clock| clock.us),
            clock_within_us: state.clock.as_ref().map(|clock| clock.within_us() + self.precision_us()),
            start_us: state.start_us,
            cpus: None,
            cpu_us: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// Leaves what this rank measured for the first one.
    pub fn leave(&self, part: &[u8]) -> Result<()> {
        let chunks: Vec<&[u8]> = part.chunks(MAX_CHUNK_BYTES).collect();
        for (number, chunk) in chunks.iter().enumerate() {
            self.guest.meeting.write_chunk(&self.guest.job, self.guest.rank.number, number as u32, chunk)?;
        }
        self.say(LEASE, |member| (member.stage, member.chunks) = (Stage::Measured, Some(chunks.len() as u32)))
    }

    /// The first rank: gives `take` what each other rank left, as soon as it is there.
    pub fn collect(&self, take: &mut dyn FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        let mut left: Vec<u32> = (1..self.guest.rank.count).collect();
        self.heart.wake();
        while !left.is_empty() {
            for (rank, member) in self.everybody()? {
                let Some(chunks) = member.chunks.filter(|_| left.contains(&rank)) else { continue };
                let mut part = Vec::new();
                for number in 0..chunks {
                    let chunk = self.guest.meeting.read_chunk(&self.guest.job, rank, number)?;
                    part.extend(chunk.ok_or_else(|| self.lost(rank, &member.host))?);
                }
                take(rank, part)?;
                left.retain(|waits| *waits != rank);
            }
            if !left.is_empty() {
                self.pause()?;
            }
        }
        Ok(())
    }

    /// The first rank: the run has ended, well or not; lets the others go and clears the place. Another one waits for that
    /// and tells whether it ended well.
    pub fn end(&self, valid: bool) -> Result<bool> {
        self.heart.wake();
        if self.is_first() {
            self.say(LEASE, |member| (member.stage, member.valid) = (Stage::Ended, Some(valid)))?;
            self.see_off(LEASE)?;
            return Ok(valid);
        }
        let first = self.await_first(Stage::Ended, None)?;
        self.clear(Some(self.guest.rank.number));
        Ok(first.valid.unwrap_or(false))
    }

    /// Ends the run for all ranks, for what `error` says. Best effort: who cannot be reached finds out.
    pub fn fail(&self, error: &Error) {
        // While sessions work, others look seldom.
        let patience = LEASE + if self.heart.works_long() { BEAT_AT_WORK } else { Duration::ZERO };
        self.heart.wake();
        let _ = self.say(LEASE, |member| member.failed = Some(Failure::from(error)));
        if self.is_first() {
            let _ = self.see_off(patience);
        }
    }

    /// The first rank: waits until the others have left, not for longer than they live without a sign, and clears the place.
    fn see_off(&self, patience: Duration) -> Result<()> {
        let until = self.guest.clock.elapsed() + patience;
        loop {
            let seen = self.guest.meeting.read_rows(&self.guest.job)?;
            let stays = |seen: &&PeerRow| {
                let member = Member::parse(&seen.row.body);
                seen.row.rank != 0 && !seen.expired && member.is_some_and(|member| member.failed.is_none())
            };
            if !seen.iter().any(|seen| stays(&seen))
                || self.guest.clock.elapsed() >= until
                || self.guest.stop.is_requested()
            {
                break;
            }
            nap(&*self.guest.clock, &StopFlag::default(), self.look())?;
        }
        self.heart.stop();
        self.guest.meeting.remove_rows(&self.guest.job, None)
    }

    /// Takes away what is of one rank.
    fn clear(&self, rank: Option<u32>) {
        self.heart.stop();
        // What stays expires by itself.
        let _ = self.guest.meeting.remove_rows(&self.guest.job, rank);
    }

    /// The others by rank, as the first rank sees them.
    ///
    /// # Errors
    /// One of them failed, is gone, or is another process than before.
    fn everybody(&self) -> Result<Vec<(u32, Member)>> {
        let seen = self.guest.meeting.read_rows(&self.guest.job)?;
        self.judged(&seen)
    }

    fn judged(&self, seen: &[PeerRow]) -> Result<Vec<(u32, Member)>> {
        self.heart.fault()?;
        let tokens = self.state().tokens.clone();
        let mut members = Vec::new();
        for (rank, token) in tokens.iter().enumerate() {
            let rank = rank as u32;
            let Some(seen) = seen.iter().find(|seen| seen.row.rank == rank) else {
                return Err(self.lost(rank, "a host that is not known"));
            };
            let Some(member) = Member::parse(&seen.row.body) else { return Err(self.guest.unreadable(rank)) };
            if seen.row.token != *token {
                return Err(self.guest.twice(rank, &seen.row));
            }
            if let Some(failed) = &member.failed {
                return Err(failed.error().at(format_args!("rank {rank} on {}", member.host)));
            }
            if seen.expired && rank != 0 {
                return Err(self.lost(rank, &member.host));
            }
            members.push((rank, member));
        }
        Ok(members)
    }

    /// The first rank's row, if it has come at least as far as `stage`.
    fn first(&self, stage: Stage) -> Result<Option<Member>> {
        let seen = self.guest.meeting.read_row(&self.guest.job, 0)?;
        self.first_of(seen, stage)
    }

    fn first_of(&self, seen: Option<PeerRow>, stage: Stage) -> Result<Option<Member>> {
        self.heart.fault()?;
        let known = !self.state().tokens.is_empty();
        let Some(seen) = seen.filter(|seen| known || !seen.expired) else {
            let host = self.state().first_host.clone().unwrap_or_default();
            return if known { Err(self.lost_first(&host)) } else { Ok(None) };
        };
        let Some(member) = Member::parse(&seen.row.body) else { return Err(self.guest.unreadable(0)) };
        let mut known_by = self.state();
        if known_by.tokens.is_empty() {
            known_by.tokens.push(seen.row.token.clone());
            known_by.first_host = Some(member.host.clone());
        }
        let same = known_by.tokens.first() == Some(&seen.row.token);
        drop(known_by);
        if let Some(failed) = &member.failed {
            self.clear(Some(self.guest.rank.number));
            return Err(failed.error());
        }
        if seen.expired || !same {
            return Err(self.lost_first(&member.host));
        }
        Ok(Some(member).filter(|member| member.stage >= stage))
    }

    fn await_first(&self, stage: Stage, limit: Option<Duration>) -> Result<Member> {
        let until = limit.map(|limit| self.guest.clock.elapsed() + limit);
        loop {
            if let Some(member) = self.first(stage)? {
                return Ok(member);
            }
            if until.is_some_and(|until| self.guest.clock.elapsed() >= until) {
                return Err(self.missing(&[]));
            }
            self.pause()?;
        }
    }

    fn missing(&self, there: &[&PeerRow]) -> Error {
        let absent = |rank: &u32| there.iter().all(|seen| seen.row.rank != *rank);
        let all = if self.is_first() { 0..self.guest.rank.count } else { 0..1 };
        let absent: Vec<u32> = all.filter(absent).collect();
        Error::target(
            format!(
                "{} of {} did not come to job {} in {} within {}",
                names(&absent),
                self.guest.rank.count,
                self.guest.job,
                self.place(),
                seconds(self.guest.timeout)
            ),
            "look whether all were started and reach that place, or give a longer --meet-timeout",
        )
    }

    fn lost(&self, rank: u32, host: &str) -> Error {
        let lease = if self.heart.works_long() { LEASE_AT_WORK } else { LEASE };
        let of_rank = Rank { number: rank, ..self.guest.rank.clone() };
        let url = self.guest.targets.get(of_rank.target() as usize);
        let on = url.map_or_else(String::new, |url| format!(" with target {}, {url},", of_rank.target() + 1));
        let what = format!("rank {rank} on {host}{on} is gone: it gave no sign for {}", seconds(lease));
        let next = "look at its host and at what its launcher says, and run again";
        if self.state().started { Error::run(what, next) } else { Error::target(what, next) }
    }

    /// The first rank is gone: nobody else clears its place.
    fn lost_first(&self, host: &str) -> Error {
        let _ = self.guest.meeting.remove_rows(&self.guest.job, Some(0));
        self.clear(Some(self.guest.rank.number));
        self.lost(0, host)
    }

    fn say(&self, lease: Duration, change: impl FnOnce(&mut Member)) -> Result<()> {
        let mut row = self.own.row.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut member) = Member::parse(&row.body) {
            change(&mut member);
            row.body = member.body();
        }
        if self.guest.meeting.update_row(&self.guest.job, &row, lease)? {
            return Ok(());
        }
        Err(self.guest.twice(row.rank, &row))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look(&self) -> Duration {
        LOOK + LOOK_PER_RANK * self.guest.rank.count
    }

    fn pause(&self) -> Result<()> {
        nap(&*self.guest.clock, &self.guest.stop, self.look())
    }

    fn precision_us(&self) -> i64 {
        self.guest.meeting.precision_us()
    }
}

/// Waits for a moment.
///
/// # Errors
/// Someone asked to stop.
fn nap(clock: &dyn Clock, stop: &StopFlag, time: Duration) -> Result<()> {
    let until_us = clock.now_us() + time.as_micros() as i64;
    clock.sleep_unless(until_us, &|| stop.is_requested());
    if stop.is_requested() { Err(Error::interrupted("interrupted while ranks met")) } else { Ok(()) }
}

/// Ranks by their numbers, the first few.
fn names(ranks: &[u32]) -> String {
    let some: Vec<String> = ranks.iter().take(5).map(u32::to_string).collect();
    let more = ranks.len().saturating_sub(some.len());
    let ranks = if ranks.len() == 1 { "rank" } else { "ranks" };
    let rest = if more > 0 { format!(" and {}", format_counted(more as u64, "other")) } else { String::new() };
    format!("{ranks} {}{rest}", some.join(", "))
}

fn seconds(time: Duration) -> String {
    mindful_core::plan::units::format_duration(time)
}
