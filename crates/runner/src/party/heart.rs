//! A thread that renews the row of a rank, so that the others know that it lives while it is busy. Where sessions work for long
//! it looks after the others too: whoever drives the sessions never waits for an answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::{Clock, FOREVER, Notifier};
use mindful_core::ranks::rendezvous::PeerRow;
use mindful_core::{Error, Result};

use super::member::{LEASE, Own};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(2);
/// The same while sessions work for long.
pub const BEAT_AT_WORK: Duration = Duration::from_secs(10);
/// For so long a sign is believed while sessions work: two may be lost.
pub const LEASE_AT_WORK: Duration = Duration::from_secs(30);

/// See the [module](self). It ends with the value.
pub struct Heart {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    bell: Arc<dyn Notifier>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Sessions work until then.
    works_until: Duration,
    /// When the next sign is due while they do, and when the meeting last answered.
    due: Option<Duration>,
    answered: Duration,
    /// What was last seen of the others, until someone asks.
    seen: Option<Vec<PeerRow>>,
    stops: bool,
    ended: bool,
    /// Another process has this rank's place.
    ousted: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn live(&self, own: &Own) {
        loop {
            self.bell.wait(BEAT, &mut || !self.state().stops);
            let state = self.state();
            if state.stops {
                break;
            }
            let now = self.clock.elapsed();
            let (works, due) = (now < state.works_until, state.due.is_some_and(|due| now >= due));
            drop(state);
            if works && due {
                self.state().due = Some(now + BEAT_AT_WORK);
                self.beat(own, LEASE_AT_WORK);
                self.look(own);
            } else if !works {
                self.beat(own, LEASE);
            }
        }
        self.state().ended = true;
        self.bell.notify();
    }

    /// The first rank looks at all, the others at the first.
    fn look(&self, own: &Own) {
        let rank = own.row.lock().unwrap_or_else(PoisonError::into_inner).rank;
        let seen = if rank == 0 {
            own.meeting.read_rows(&own.job)
        } else {
            own.meeting.read_row(&own.job, 0).map(|seen| seen.into_iter().collect())
        };
        if let Ok(seen) = seen {
            let now = self.clock.elapsed();
            let mut state = self.state();
            (state.seen, state.answered) = (Some(seen), now);
        }
    }

    /// A meeting that does not answer is not the end: the next sign may be heard before the lease is over.
    fn beat(&self, own: &Own, lease: Duration) {
        let row = own.row.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(false) = own.meeting.update_row(&own.job, &row, lease) {
            drop(row);
            let mut state = self.state();
            state.ousted = !state.stops;
        }
    }
}

impl Heart {
    /// Renews the row `own` from now on.
    pub fn new(own: &Arc<Own>, clock: &Arc<dyn Clock>) -> Result<Self> {
        let shared = Arc::new(Shared { clock: Arc::clone(clock), bell: clock.new_notifier(), state: Mutex::default() });
        let (living, own, mut place) = (Arc::clone(&shared), Arc::clone(own), clock.new_thread_slot());
        let spawned = std::thread::Builder::new().name("heart".to_owned()).stack_size(256 << 10).spawn(move || {
            place.enter();
            living.live(&own);
        });
        spawned.map_err(|error| {
            Error::run(format!("a thread did not start: {error}"), "raise the limit on processes (ulimit -u)")
        })?;
        Ok(Self { shared })
    }

    /// Gives few signs until then, by the clock's own time, for sessions work; none where that is soon. Gives how long the
    /// row has to be believed until the next one.
    pub fn slow_until(&self, until: Duration) -> Duration {
        let now = self.shared.clock.elapsed();
        let lease = (until.saturating_sub(now)).saturating_add(LEASE).min(LEASE_AT_WORK);
        let mut state = self.shared.state();
        (state.works_until, state.answered) = (until, now);
        state.due = (lease == LEASE_AT_WORK).then_some(now + BEAT_AT_WORK);
        lease
    }

    /// Whether sessions work, and signs are few.
    pub fn works_long(&self) -> bool {
        let state = self.shared.state();
        state.due.is_some() && self.shared.clock.elapsed() < state.works_until
    }

    /// What was seen of the others since the last question; the meeting may have been silent for too long.
    pub fn seen(&self) -> Result<Option<Vec<PeerRow>>> {
        let mut state = self.shared.state();
        if self.shared.clock.elapsed() > state.answered + LEASE_AT_WORK {
            return Err(Error::run(
                format!("the place where ranks meet has not answered for {} s", LEASE_AT_WORK.as_secs()),
                "look at it and at the network between, and run again",
            ));
        }
        Ok(state.seen.take())
    }

    /// Gives signs as often as before.
    pub fn wake(&self) {
        self.shared.state().works_until = Duration::ZERO;
    }

    /// Fails where another process has taken this rank's place.
    pub fn fault(&self) -> Result<()> {
        if self.shared.state().ousted {
            return Err(Error::plan(
                "another process took the place of this rank",
                "start each rank once; a second run at a time needs a name of its own: --job NAME",
            ));
        }
        Ok(())
    }

    /// Ends it; the row stays as it is.
    pub fn stop(&self) {
        self.shared.state().stops = true;
        self.shared.bell.notify();
        // Not joined: on a simulated clock it runs when this thread waits.
        self.shared.bell.wait(FOREVER, &mut || !self.shared.state().ended);
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.stop();
    }
}
