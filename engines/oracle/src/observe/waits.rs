//! Waits of sessions, sampled from V$SESSION. It needs no pack: history that requires a pack is never read.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::wait::{WaitClass, WaitEvent};
use mindful_oracle_terms as oracle;
use mindful_sql::observe::wait_sampling::{self as sampling, Whom};

use crate::codes::denied;
use crate::connect::driver::Failure;
use crate::connect::link::{Link, QUESTION, number, text};
use crate::connect::{Doing, explain};
use crate::observe::own;

/// Events that are counted under their own name.
const EVENTS: &[&str] = &[
    "db file sequential read",
    "db file scattered read",
    "db file parallel read",
    "direct path read",
    "cell single block physical read",
    "cell multiblock physical read",
    "cell list of blocks physical read",
    "cell smart table scan",
    "cell smart index scan",
    "log file sync",
    "log buffer space",
    "log file switch completion",
    "log file switch (checkpoint incomplete)",
    "log file switch (archiving needed)",
    "free buffer waits",
    "write complete waits",
    "buffer busy waits",
    "read by other session",
    "latch: cache buffers chains",
    "enq: TX - row lock contention",
    "gc cr request",
    "gc current request",
    "resmgr:cpu quantum",
    "SQL*Net message from client",
    "PL/SQL lock timer",
];

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
const LATCHES: WaitEvent = WaitEvent::latch("other latches");

fn metrics() -> impl Iterator<Item = WaitEvent> {
    EVENTS.iter().map(|event| listed(event)).chain(OTHERS)
}

/// Latches have a separate mark.
fn listed(event: &'static str) -> WaitEvent {
    if oracle::is_latch(event) { WaitEvent::latch(event) } else { WaitEvent::new(oracle::class(event), event) }
}

fn metric_of(doing: &str) -> WaitEvent {
    if doing == "ON CPU" {
        return OTHERS[0];
    }
    // On Exadata the name of a read ends with its source: `cell single block physical read: flash cache`.
    let name = if doing.starts_with("cell ") { doing.split(':').next().unwrap_or(doing) } else { doing };
    if let Some(event) = EVENTS.iter().find(|event| **event == name) {
        return listed(event);
    }
    if oracle::is_latch(doing) {
        return LATCHES;
    }
    let class = oracle::class(doing);
    OTHERS.into_iter().find(|other| other.class == class).unwrap_or(OTHERS[5])
}

/// The samplers `waits` and `wait_sampling` of [`sampling::start_sampling`]; a finding where V$SESSION may not be read.
pub(crate) fn samplers(
    link: &Arc<Link>,
    interval: Duration,
    whom: Whom,
    events: &dyn Events,
) -> Result<Vec<Box<dyn Sampler>>> {
    let mut monitors = own::monitors(link, "waits")?;
    if let Err(failure) = sample(link, &mut monitors, whom) {
        events.emit(denied(&failure, "v$session", &["V_$SESSION"])?);
        return Ok(Vec::new());
    }
    let monitor = Monitor { link: Arc::clone(link), monitors, whom };
    let (_, samplers) = sampling::start_sampling(monitor, metrics().collect(), interval, "process", 0)?;
    Ok(samplers.into())
}

struct Monitor {
    link: Arc<Link>,
    monitors: Vec<own::Monitor>,
    whom: Whom,
}

impl sampling::Monitor for Monitor {
    fn sample(&mut self) -> Result<Vec<(WaitEvent, f64)>> {
        sample(&self.link, &mut self.monitors, self.whom)
            .map_err(|failure| explain(&failure, Doing::Work, "sampling v$session"))
    }
}

fn sample(link: &Link, monitors: &mut [own::Monitor], whom: Whom) -> Result<Vec<(WaitEvent, f64)>, Failure> {
    let names = link.names_in_server("");
    let (sql, binds) = match whom {
        Whom::Ours => (include_str!("../../sql/counters/waits.sql"), &names[..]),
        Whom::AllClients => (include_str!("../../sql/counters/all_waits.sql"), &names[..0]),
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

#[cfg(test)]
mod tests {
    use mindful_core::contract::wait;

    use super::*;

    #[test]
    fn each_event_is_of_the_class_that_reports_give_it() {
        assert!(EVENTS.iter().all(|event| metric_of(event).event == *event));
        assert_eq!(metric_of("log buffer space").class, WaitClass::Log);
        for name in ["cell single block physical read", "cell single block physical read: flash cache"] {
            assert_eq!(metric_of(name).event, "cell single block physical read");
        }
        assert_eq!(metric_of("cell smart table scan").class, WaitClass::Read);
        assert_eq!(metric_of("ON CPU").class, WaitClass::Cpu);
        assert_eq!(metric_of("enq: TM - contention").class, WaitClass::Contention);
        assert_eq!(metric_of("Disk file operations I/O"), OTHERS[5]);
        // Locks held for a moment: on a full host the holder has lost its CPU, and the work does not contend.
        for (doing, event) in
            [("latch: cache buffers chains", "latch: cache buffers chains"), ("cursor: pin S", "other latches")]
        {
            let metric = metric_of(doing);
            assert!(wait::is_latch(&metric.to_string()) && metric.event == event, "{doing}: {metric}");
        }
        assert!(!wait::is_latch(&metric_of("buffer busy waits").to_string()));
    }
}
