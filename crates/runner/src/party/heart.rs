//! A thread that renews the row of a rank, so that the others know that it lives while it is busy.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::clock::{Bell, Clock, FOREVER};
use mindful_core::{Error, Result};

use super::member::{LEASE, Own};

/// Between two signs of life.
const BEAT: Duration = Duration::from_secs(2);

/// See the [module](self). It ends with the value.
pub struct Heart {
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn Clock>,
    bell: Arc<dyn Bell>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    rests_until: Duration,
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
            let rests = self.clock.elapsed() < state.rests_until;
            drop(state);
            if !rests {
                self.beat(own);
            }
        }
        self.state().ended = true;
        self.bell.ring();
    }

    /// A meeting that does not answer is not the end: the next sign may be heard before the lease is over.
    fn beat(&self, own: &Own) {
        let row = own.row.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(false) = own.meeting.post(&own.job, &row, LEASE) {
            drop(row);
            let mut state = self.state();
            state.ousted = !state.stops;
        }
    }
}

impl Heart {
    /// Renews the row `own` from now on.
    pub fn new(own: &Arc<Own>, clock: &Arc<dyn Clock>) -> Result<Self> {
        let shared = Arc::new(Shared { clock: Arc::clone(clock), bell: clock.bell(), state: Mutex::default() });
        let (living, own, mut place) = (Arc::clone(&shared), Arc::clone(own), clock.place());
        let spawned = std::thread::Builder::new().name("heart".to_owned()).stack_size(256 << 10).spawn(move || {
            place.begin();
            living.live(&own);
        });
        spawned.map_err(|error| {
            Error::run(format!("a thread did not start: {error}"), "raise the limit on processes (ulimit -u)")
        })?;
        Ok(Self { shared })
    }

    /// Gives no sign until then, by the clock's own time.
    pub fn rest_until(&self, until: Duration) {
        self.shared.state().rests_until = until;
    }

    /// Gives signs again, if it rested.
    pub fn wake(&self) {
        self.shared.state().rests_until = Duration::ZERO;
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
        self.shared.bell.ring();
        // Not joined: on a simulated clock it runs when this thread waits.
        self.shared.bell.wait(FOREVER, &mut || !self.shared.state().ended);
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        self.stop();
    }
}
