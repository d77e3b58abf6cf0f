//! The heartbeat: a thread that renews the row of a rank while the rank is busy.
//!
//! While sessions work, a beat costs CPU and a query that disturb the measurement. So beats are rare then (every 10 s,
//! and the lease is 30 s), and a short window has no beats. The same thread reads the rows of the others at each of
//! these beats: the thread that drives the sessions must never wait for an answer of the rendezvous.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::{Clock, FOREVER, Notifier};
use mindful_core::ranks::rendezvous::PeerRow;
use mindful_core::{Error, Result};
use parking_lot::Mutex;

use crate::rank_state::{LEASE, OwnRow};

const BEAT: Duration = Duration::from_secs(2);
/// The same while sessions work for long.
pub(crate) const BEAT_AT_WORK: Duration = Duration::from_secs(10);
/// The lease while sessions work: two beats may be lost.
pub(crate) const LEASE_AT_WORK: Duration = Duration::from_secs(30);

/// See the [module](self). The thread ends when this is dropped.
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    notifier: Arc<dyn Notifier>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    works_until: Duration,
    /// When the next beat is due while they work.
    due: Option<Duration>,
    answered: Duration,
    /// The rows of the others as last read, until someone takes them.
    seen: Option<Vec<PeerRow>>,
    stops: bool,
    ended: bool,
    /// Another process took the row of this rank.
    row_taken: bool,
}

impl Shared {
    fn beat_until_stopped(&self, own: &OwnRow) {
        loop {
            self.notifier.wait(BEAT, &mut || !self.state.lock().stops);
            let state = self.state.lock();
            if state.stops {
                break;
            }
            let now = self.clock.elapsed();
            let (works, due) = (now < state.works_until, state.due.is_some_and(|due| now >= due));
            drop(state);
            if works && due {
                self.state.lock().due = Some(now + BEAT_AT_WORK);
                self.renew(own, LEASE_AT_WORK);
                self.read_others(own);
            } else if !works {
                self.renew(own, LEASE);
            }
        }
        self.state.lock().ended = true;
        self.notifier.notify();
    }

    /// Rank 0 reads the rows of all ranks; the others read the row of rank 0.
    fn read_others(&self, own: &OwnRow) {
        let rank = own.row.lock().rank;
        let seen = if rank == 0 {
            own.rendezvous.read_rows(&own.job)
        } else {
            own.rendezvous.read_row(&own.job, 0).map(|seen| seen.into_iter().collect())
        };
        if let Ok(seen) = seen {
            let now = self.clock.elapsed();
            let mut state = self.state.lock();
            (state.seen, state.answered) = (Some(seen), now);
        }
    }

    /// An error is not the end: the next beat may arrive before the lease is over.
    fn renew(&self, own: &OwnRow, lease: Duration) {
        let row = own.row.lock();
        if let Ok(false) = own.rendezvous.update_row(&own.job, &row, lease) {
            drop(row);
            let mut state = self.state.lock();
            state.row_taken = !state.stops;
        }
    }
}

impl Heartbeat {
    pub(crate) fn start(own: &Arc<OwnRow>, clock: &Arc<dyn Clock>) -> Result<Self> {
        let shared =
            Arc::new(Shared { clock: Arc::clone(clock), notifier: clock.new_notifier(), state: Mutex::default() });
        let (beating, own, mut slot) = (Arc::clone(&shared), Arc::clone(own), clock.new_thread_slot());
        let spawned = std::thread::Builder::new().name("heartbeat".to_owned()).stack_size(256 << 10).spawn(move || {
            slot.enter();
            beating.beat_until_stopped(&own);
        });
        spawned.map_err(|error| {
            Error::run(format!("a thread did not start: {error}"), "raise the limit on processes (ulimit -u)")
        })?;
        Ok(Self { shared })
    }

    /// Sessions work until `until`, by the clock's own time: beats are rare until then, and there is no beat in a short
    /// window. Returns the lease that the row needs until the next beat.
    pub(crate) fn slow_until(&self, until: Duration) -> Duration {
        let now = self.shared.clock.elapsed();
        let lease = (until.saturating_sub(now)).saturating_add(LEASE).min(LEASE_AT_WORK);
        let mut state = self.shared.state.lock();
        (state.works_until, state.answered) = (until, now);
        state.due = (lease == LEASE_AT_WORK).then_some(now + BEAT_AT_WORK);
        lease
    }

    pub(crate) fn resume(&self) {
        self.shared.state.lock().works_until = Duration::ZERO;
    }

    pub(crate) fn is_slow(&self) -> bool {
        let state = self.shared.state.lock();
        state.due.is_some() && self.shared.clock.elapsed() < state.works_until
    }

    /// Takes the rows of the others if they were read since the last call.
    ///
    /// # Errors
    /// The rendezvous has been silent for too long.
    pub(crate) fn take_seen(&self) -> Result<Option<Vec<PeerRow>>> {
        let mut state = self.shared.state.lock();
        if self.shared.clock.elapsed() > state.answered + LEASE_AT_WORK {
            return Err(Error::run(
                format!("the place where ranks meet has not answered for {} s", LEASE_AT_WORK.as_secs()),
                "check it and the network between, and run again",
            ));
        }
        Ok(state.seen.take())
    }

    /// # Errors
    /// Another process took the row of this rank.
    pub(crate) fn check(&self) -> Result<()> {
        if self.shared.state.lock().row_taken {
            return Err(Error::plan(
                "another process took the place of this rank",
                "start each rank once; a second run at a time needs a name of its own: --job NAME",
            ));
        }
        Ok(())
    }

    /// Ends the beats; the row stays as it is.
    pub(crate) fn stop(&self) {
        self.shared.state.lock().stops = true;
        self.shared.notifier.notify();
        // Not joined: on a simulated clock the thread runs only while this one waits.
        self.shared.notifier.wait(FOREVER, &mut || !self.shared.state.lock().ended);
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.stop();
    }
}
