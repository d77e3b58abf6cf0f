//! Work on a thread of its own, so that whoever waits for it can go when someone asked to stop. The driver cannot cancel: a
//! statement that never ends is left behind with its connection, which the end of the process closes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use mindful_core::slice::{SliceOrder, SliceReport};
use mindful_core::{Error, Result, Session};

/// How often it is looked whether someone asked.
const LOOK: Duration = Duration::from_millis(50);
/// How long what is under way may still take then: a slice that is nearly over shall report.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Does `work`, and goes on without it where `stopped` is set meanwhile.
pub fn done<T: Send + 'static>(
    stopped: &AtomicBool,
    place: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    let (tell, told) = mpsc::channel();
    let worker = Builder::new().name("oracle".to_owned()).spawn(move || drop(tell.send(work())));
    worker.map_err(|error| no_thread(&error))?;
    wait(&told, stopped, place)
}

fn no_thread(error: &std::io::Error) -> Error {
    Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes")
}

fn wait<T>(told: &Receiver<T>, stopped: &AtomicBool, place: &str) -> Result<T> {
    let mut asked: Option<Instant> = None;
    loop {
        match told.recv_timeout(LOOK) {
            Ok(value) => return Ok(value),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::run(format!("{place} broke down"), "`mindful doctor` writes a bundle for a report"));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if stopped.load(Ordering::SeqCst) && asked.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return Err(Error::interrupted(format!("{place} was interrupted, its connection left to itself")));
        }
    }
}

/// A session that works on a thread of its own.
pub struct Apart {
    stopped: Arc<AtomicBool>,
    place: String,
    orders: Option<Sender<SliceOrder>>,
    reports: Receiver<Result<SliceReport>>,
    worker: Option<JoinHandle<()>>,
}

impl Apart {
    /// Gives `session`, which `place` names, to a thread.
    pub fn new(stopped: Arc<AtomicBool>, place: String, mut session: impl Session + Send + 'static) -> Result<Self> {
        let (orders, ordered) = mpsc::channel();
        let (report, reports) = mpsc::channel();
        let work = move || {
            for order in ordered {
                if report.send(session.slice(&order)).is_err() {
                    return;
                }
            }
        };
        let worker = Builder::new().name("oracle".to_owned()).spawn(work).map_err(|error| no_thread(&error))?;
        Ok(Self { stopped, place, orders: Some(orders), reports, worker: Some(worker) })
    }
}

impl Session for Apart {
    fn slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let sent = self.orders.as_ref().is_some_and(|orders| orders.send(*order).is_ok());
        let left = || Error::interrupted(format!("{} was interrupted before", self.place));
        if !sent || self.worker.is_none() {
            return Err(left());
        }
        let reported = wait(&self.reports, &self.stopped, &self.place);
        if reported.is_err() {
            // It is not waited for, now or when this goes.
            drop((self.worker.take(), self.orders.take()));
        }
        reported?
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        drop(self.orders.take());
        // What it leaves behind is counted before anyone reads counters.
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}
