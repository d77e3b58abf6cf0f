//! An opened target that is given up when someone asked to stop and whoever uses it still waits for it: for a lock, a long
//! statement, a server that no longer answers.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mindful_core::Target;
use mindful_core::engine::Stop;

/// How often it looks whether someone asked.
const LOOK: Duration = Duration::from_millis(200);
/// How long those who look at the stop themselves have to end in order.
const GRACE: Duration = Duration::from_secs(1);
/// The same while a step is under way, which ends its sessions itself and then reads counters.
const GRACE_OF_STEP: Duration = Duration::from_secs(6);

/// The target, until this is dropped.
pub struct Heeding {
    target: Arc<dyn Target>,
    in_step: Arc<AtomicBool>,
    watching: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Heeding {
    /// Watches `stop` for `target`; where no thread can be had, only a second signal ends a wait for it.
    pub fn new(target: Box<dyn Target>, stop: &Stop) -> Self {
        let target: Arc<dyn Target> = Arc::from(target);
        let (end, ended) = mpsc::channel();
        let in_step = Arc::new(AtomicBool::new(false));
        let (watched, stepping, stop) = (Arc::clone(&target), Arc::clone(&in_step), stop.clone());
        let watch = move || {
            let mut asked: Option<Instant> = None;
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let grace = if stepping.load(Ordering::SeqCst) { GRACE_OF_STEP } else { GRACE };
                if stop.requested() && asked.get_or_insert_with(Instant::now).elapsed() >= grace {
                    watched.give_up();
                }
            }
        };
        let thread = thread::Builder::new().name("stop".to_owned()).spawn(watch);
        Self { target, in_step, watching: thread.ok().map(|thread| (end, thread)) }
    }

    /// Does `step`, which ends by itself soon after someone asked.
    pub fn in_step<T>(&self, step: impl FnOnce() -> T) -> T {
        self.in_step.store(true, Ordering::SeqCst);
        let done = step();
        self.in_step.store(false, Ordering::SeqCst);
        done
    }
}

impl Deref for Heeding {
    type Target = dyn Target;

    fn deref(&self) -> &Self::Target {
        &*self.target
    }
}

impl Drop for Heeding {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.watching.take() {
            drop(end);
            // The target ends here and now, not on that thread.
            let _ = thread.join();
        }
    }
}
