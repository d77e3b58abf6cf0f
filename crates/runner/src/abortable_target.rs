//! What is given up when someone asked to stop and whoever uses it still waits for it: for a lock, a long statement, a server
//! that no longer answers.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mindful_core::Target;
use mindful_core::contract::stop_flag::StopFlag;

/// How often it looks whether someone asked.
const LOOK: Duration = Duration::from_millis(200);
/// How long those who look at the stop themselves have to end in order.
const GRACE: Duration = Duration::from_secs(1);
/// The same while a step is under way, which ends its sessions itself and then reads counters.
pub const STEP_GRACE: Duration = Duration::from_secs(6);

/// A thread that gives something up, again and again, from a while after someone asked to stop until this is dropped.
pub struct AbortWatchdog(Option<(Sender<()>, JoinHandle<()>)>);

impl AbortWatchdog {
    /// Watches `stop`; where no thread can be had, only a second signal ends a wait.
    pub fn watch(
        stop: &StopFlag,
        grace: impl Fn() -> Duration + Send + 'static,
        give_up: impl Fn() + Send + 'static,
    ) -> Self {
        let (end, ended) = mpsc::channel();
        let stop = stop.clone();
        let watch = move || {
            let mut asked: Option<Instant> = None;
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop.is_requested() && asked.get_or_insert_with(Instant::now).elapsed() >= grace() {
                    give_up();
                }
            }
        };
        let thread = thread::Builder::new().name("stop".to_owned()).spawn(watch);
        Self(thread.ok().map(|thread| (end, thread)))
    }
}

impl Drop for AbortWatchdog {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // What it gave up ends on the thread that drops it, not on that one.
            let _ = thread.join();
        }
    }
}

/// An opened target, until this is dropped.
pub struct AbortableTarget {
    // Goes first: the target ends here and now.
    _watchdog: AbortWatchdog,
    target: Arc<dyn Target>,
    in_step: Arc<AtomicBool>,
}

impl AbortableTarget {
    /// Watches `stop` for `target`.
    pub fn new(target: Box<dyn Target>, stop: &StopFlag) -> Self {
        let target: Arc<dyn Target> = Arc::from(target);
        let in_step = Arc::new(AtomicBool::new(false));
        let (watched, stepping) = (Arc::clone(&target), Arc::clone(&in_step));
        let grace = move || if stepping.load(Ordering::SeqCst) { STEP_GRACE } else { GRACE };
        Self { _watchdog: AbortWatchdog::watch(stop, grace, move || watched.abort()), target, in_step }
    }

    /// Does `step`, which ends by itself soon after someone asked.
    pub fn in_step<T>(&self, step: impl FnOnce() -> T) -> T {
        self.in_step.store(true, Ordering::SeqCst);
        let done = step();
        self.in_step.store(false, Ordering::SeqCst);
        done
    }
}

impl Deref for AbortableTarget {
    type Target = dyn Target;

    fn deref(&self) -> &Self::Target {
        &*self.target
    }
}
