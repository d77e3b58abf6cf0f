//! What sessions wait for: V$SESSION, sampled. It needs no pack: what a pack keeps of the past is never touched.
//!
//! Counts of samples only tell shares of time when samples are independent of the work, so the time between two is drawn
//! anew each time.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mindful_core::draw::draw_unit;
use mindful_core::event::Events;
use mindful_core::metric::{Metric, Sampler};
use mindful_core::oracle;
use mindful_core::wait::{SAMPLES, WaitClass, WaitEvent};
use mindful_core::{Error, Result};

use crate::connect::{Doing, explain};
use crate::denied::denied;
use crate::driver::{Bind, Failure};
use crate::link::{Link, MODULE, QUESTION, number, text};
use crate::own::{self, Monitor};

/// Stream of the draws that spread samples in time.
const SPREAD: i64 = 0x6f72_6177;

/// Whose sessions are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    /// Those of this mindful.
    Ours,
    /// All clients of the instance.
    AllClients,
}

/// Events that are counted under their own name, and the class of each; latches by their nature are apart.
const EVENTS: &[(&str, WaitClass)] = &[
    ("db file sequential read", WaitClass::Read),
    ("db file scattered read", WaitClass::Read),
    ("db file parallel read", WaitClass::Read),
    ("direct path read", WaitClass::Read),
    ("cell single block physical read", WaitClass::Read),
    ("cell multiblock physical read", WaitClass::Read),
    ("cell list of blocks physical read", WaitClass::Read),
    ("cell smart table scan", WaitClass::Read),
    ("cell smart index scan", WaitClass::Read),
    ("log file sync", WaitClass::Log),
    ("log buffer space", WaitClass::Log),
    ("log file switch completion", WaitClass::Log),
    ("log file switch (checkpoint incomplete)", WaitClass::Log),
    ("log file switch (archiving needed)", WaitClass::Log),
    ("free buffer waits", WaitClass::Writer),
    ("write complete waits", WaitClass::Writer),
    ("buffer busy waits", WaitClass::Contention),
    ("read by other session", WaitClass::Contention),
    ("latch: cache buffers chains", WaitClass::Contention),
    ("enq: TX - row lock contention", WaitClass::Contention),
    ("gc cr request", WaitClass::Contention),
    ("gc current request", WaitClass::Contention),
    ("resmgr:cpu quantum", WaitClass::Other),
    ("SQL*Net message from client", WaitClass::Idle),
    ("PL/SQL lock timer", WaitClass::Idle),
];

/// What is not listed, by its class.
const OTHERS: [WaitEvent; 8] = [
    WaitEvent::new(WaitClass::Cpu, "cpu"),
    WaitEvent::new(WaitClass::Read, "other reads"),
    WaitEvent::new(WaitClass::Log, "other redo"),
    WaitEvent::new(WaitClass::Writer, "other writes"),
    WaitEvent::new(WaitClass::Contention, "other contention"),
    WaitEvent::new(WaitClass::Other, "other"),
    WaitEvent::new(WaitClass::Idle, "other idle"),
    LATCHES,
];
/// Latches and mutexes that are not listed.
const LATCHES: WaitEvent = WaitEvent::latch("other latches");

/// All metrics, known before the first sample.
fn metrics() -> impl Iterator<Item = WaitEvent> {
    EVENTS.iter().map(|(event, class)| listed(event, *class)).chain(OTHERS)
}

fn listed(event: &'static str, class: WaitClass) -> WaitEvent {
    if oracle::is_latch(event) { WaitEvent::latch(event) } else { WaitEvent::new(class, event) }
}

/// The metric that counts sessions found `doing` this.
fn metric_of(doing: &str) -> WaitEvent {
    if doing == "ON CPU" {
        return OTHERS[0];
    }
    // Where a read was served from stands behind its name on Exadata: `cell single block physical read: flash cache`.
    let name = if doing.starts_with("cell ") { doing.split(':').next().unwrap_or(doing) } else { doing };
    if let Some((event, class)) = EVENTS.iter().find(|(event, _)| *event == name) {
        return listed(event, *class);
    }
    if oracle::is_latch(doing) {
        return LATCHES;
    }
    let class = WaitClass::of(oracle::class(doing));
    OTHERS.into_iter().find(|other| other.class == class).unwrap_or(OTHERS[5])
}

/// The sampler of waits, from a thread that ends with it; a finding where V$SESSION may not be read.
pub fn samplers(
    link: &Arc<Link>,
    interval: Duration,
    whom: Whom,
    events: &dyn Events,
) -> Result<Option<Box<dyn Sampler>>> {
    let mut monitors = own::monitors(link, "waits")?;
    if let Err(failure) = sample(link, &mut monitors, whom) {
        events.emit(denied(&failure, "v$session", &["V_$SESSION"])?);
        return Ok(None);
    }
    let found: Arc<Mutex<Found>> = Arc::default();
    let (stop, stopped) = channel();
    let (shared, link) = (Arc::clone(&found), Arc::clone(link));
    let thread = std::thread::Builder::new()
        .name("waits".to_owned())
        .spawn(move || sample_until(&stopped, &link, &mut monitors, whom, interval, &shared))
        .map_err(|error| Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes"))?;
    let help = "Sessions found at this, summed over all samples";
    let metrics = metrics().map(|event| Metric::counter(event.to_string(), "samples", help)).collect();
    Ok(Some(Box::new(Waits { found, metrics, stop: Some(stop), thread: Some(thread) })))
}

#[derive(Default)]
struct Found {
    counts: BTreeMap<WaitEvent, f64>,
    fault: Option<Error>,
}

impl Found {
    fn add(&mut self, sampled: &[(WaitEvent, f64)]) {
        for (event, sessions) in sampled {
            *self.counts.entry(*event).or_default() += sessions;
        }
    }
}

fn held(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sample_until(
    stopped: &Receiver<()>,
    link: &Link,
    monitors: &mut [Monitor],
    whom: Whom,
    interval: Duration,
    found: &Mutex<Found>,
) {
    for number in 0.. {
        let pause = interval.mul_f64(0.5 + draw_unit(number, SPREAD));
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        match sample(link, monitors, whom) {
            Ok(sampled) => held(found).add(&sampled),
            Err(failure) => {
                held(found).fault = Some(explain(&failure, Doing::Work, "sampling v$session"));
                return;
            }
        }
    }
}

fn sample(link: &Link, monitors: &mut [Monitor], whom: Whom) -> Result<Vec<(WaitEvent, f64)>, Failure> {
    let names = [("module", Bind::Text(MODULE.to_owned())), ("action", Bind::Text(link.action("")))];
    let (sql, binds) = match whom {
        Whom::Ours => (include_str!("../sql/counters/waits.sql"), &names[..]),
        Whom::AllClients => (include_str!("../sql/counters/all_waits.sql"), &names[..0]),
    };
    let mut sampled = Vec::new();
    for monitor in monitors {
        for row in monitor.connection.query(sql.trim_end(), binds, QUESTION)? {
            if let (Some(doing), Some(sessions)) = (text(&row, 0), number(&row, 1)) {
                sampled.push((metric_of(doing), sessions as f64));
            }
        }
    }
    Ok(sampled)
}

struct Waits {
    found: Arc<Mutex<Found>>,
    metrics: Vec<Metric>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler for Waits {
    fn name(&self) -> &'static str {
        SAMPLES
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let found = held(&self.found);
        // Once sampling has failed, old counts would pass as new ones.
        if let Some(fault) = &found.fault {
            return Err(fault.clone());
        }
        Ok(metrics().map(|event| Some(found.counts.get(&event).copied().unwrap_or(0.0))).collect())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::wait;

    use super::*;

    #[test]
    fn each_event_is_of_the_class_that_reports_give_it() {
        for (event, class) in EVENTS {
            assert_eq!(WaitClass::of(oracle::class(event)), *class, "{event}");
        }
        for name in ["cell single block physical read", "cell single block physical read: flash cache"] {
            assert_eq!(metric_of(name).event, "cell single block physical read");
        }
        assert_eq!(metric_of("cell smart table scan").class, WaitClass::Read);
        assert_eq!(metric_of("ON CPU").class, WaitClass::Cpu);
        assert_eq!(metric_of("enq: TM - contention").class, WaitClass::Contention);
        assert_eq!(metric_of("Disk file operations I/O"), OTHERS[5]);
        // What is held for a moment: on a full host its holder has lost its CPU, which is no contention of the work.
        for (doing, event) in
            [("latch: cache buffers chains", "latch: cache buffers chains"), ("cursor: pin S", "other latches")]
        {
            let metric = metric_of(doing);
            assert!(wait::is_latch(&metric.to_string()) && metric.event == event, "{doing}: {metric}");
        }
        assert!(!wait::is_latch(&metric_of("buffer busy waits").to_string()));
    }
}
