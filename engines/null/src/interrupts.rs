//! Ends the waits of all sessions. They are woken for it: thousands of polling threads would keep the host busy.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread, ThreadId};

/// Number of interrupts, and the threads to wake the next time.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    count: AtomicU64,
    at_work: Mutex<HashMap<ThreadId, Thread>>,
}

/// This thread is woken by interrupts while it holds this.
pub(crate) struct Wakeful<'a>(&'a Interrupts);

impl Interrupts {
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::SeqCst)
    }

    pub(crate) fn interrupt(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.at_work().values().for_each(Thread::unpark);
    }

    /// From now on an interrupt ends this thread's [`thread::park`].
    pub(crate) fn wake_me(&self) -> Wakeful<'_> {
        let me = thread::current();
        self.at_work().insert(me.id(), me);
        Wakeful(self)
    }

    fn at_work(&self) -> MutexGuard<'_, HashMap<ThreadId, Thread>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Wakeful<'_> {
    fn drop(&mut self) {
        self.0.at_work().remove(&thread::current().id());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn an_interrupt_ends_all_waits() {
        let (interrupts, ready, began) = (Interrupts::default(), Barrier::new(9), Instant::now());
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let _wakeful = interrupts.wake_me();
                    ready.wait();
                    while interrupts.count() == 0 {
                        thread::park_timeout(Duration::from_mins(1));
                    }
                });
            }
            ready.wait();
            interrupts.interrupt();
        });
        assert!(began.elapsed() < Duration::from_secs(30));
        assert!(interrupts.at_work().is_empty());
    }
}
