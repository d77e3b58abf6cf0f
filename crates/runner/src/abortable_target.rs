//! A target that is aborted if the user asked to stop and a wait continues: for a lock, a long statement, or a server
//! that no longer answers.
//!
//! Most waits end in order: sessions check the stop flag, and a step interrupts its own operations. The watchdog is for
//! other waits, such as a read from a socket. It calls `abort` a while after the request. It repeats the call until the
//! target is dropped, because an abort may come just before the next wait begins. Only a second signal ends the process
//! itself.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mindful_core::Target;
use mindful_core::contract::stop_flag::StopFlag;

const POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Time for an end in order after the request to stop.
const GRACE: Duration = Duration::from_secs(1);
/// The same while a step runs, which ends its sessions itself and then reads counters.
pub const STEP_GRACE: Duration = Duration::from_secs(6);

/// A thread that calls a function repeatedly, from some time after the request to stop until this is dropped.
pub struct AbortWatchdog(Option<(Sender<()>, JoinHandle<()>)>);

impl AbortWatchdog {
    /// Calls `abort` once `grace` has passed since `stop` was requested. If no thread can be started, only a second signal ends a
    /// wait.
    pub fn watch(
        stop: &StopFlag,
        grace: impl Fn() -> Duration + Send + 'static,
        abort: impl Fn() + Send + 'static,
    ) -> Self {
        let (end, ended) = mpsc::channel();
        let stop = stop.clone();
        let watch = move || {
            let mut asked: Option<Instant> = None;
            while ended.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if stop.is_requested() && asked.get_or_insert_with(Instant::now).elapsed() >= grace() {
                    abort();
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
            // The target must be dropped by this thread, not by the watchdog's.
            let _ = thread.join();
        }
    }
}

pub struct AbortableTarget {
    // Dropped before the target, so that the target ends on this thread.
    watchdog: Option<AbortWatchdog>,
    target: Arc<dyn Target>,
    in_step: Arc<AtomicBool>,
    stop: StopFlag,
}

impl AbortableTarget {
    pub(crate) fn new(target: Box<dyn Target>, stop: &StopFlag) -> Self {
        let target: Arc<dyn Target> = Arc::from(target);
        let in_step = Arc::new(AtomicBool::new(false));
        let (watched, stepping) = (Arc::clone(&target), Arc::clone(&in_step));
        let grace = move || if stepping.load(Ordering::SeqCst) { STEP_GRACE } else { GRACE };
        let watchdog = AbortWatchdog::watch(stop, grace, move || watched.abort());
        Self { watchdog: Some(watchdog), target, in_step, stop: stop.clone() }
    }

    /// Runs `step`, which ends soon after the request to stop.
    pub(crate) fn in_step<T>(&self, step: impl FnOnce() -> T) -> T {
        self.in_step.store(true, Ordering::SeqCst);
        let done = step();
        self.in_step.store(false, Ordering::SeqCst);
        done
    }
}

impl Drop for AbortableTarget {
    fn drop(&mut self) {
        // The signal that ended the work does not cut short the orderly stop of a server. One that comes now does.
        if self.stop.is_requested() {
            self.watchdog = None;
        }
        self.target.close();
    }
}

impl Deref for AbortableTarget {
    type Target = dyn Target;

    fn deref(&self) -> &Self::Target {
        &*self.target
    }
}
