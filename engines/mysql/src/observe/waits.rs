//! Waits of sessions, sampled over one connection. The source is the performance schema, if it records waits. On this
//! host the kernel shows where a session's thread sleeps, and the process list its activity.

mod doing;
mod monitor;

use std::sync::Arc;
use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::Sampler;
use mindful_sql::observe::wait_sampling as sampling;

use self::monitor::Monitor;
use crate::connect::link::Link;

/// The samplers `waits` and `wait_sampling` of [`sampling::start`]. Empty if nothing can be sampled, which is reported.
pub(crate) fn samplers(
    link: &Arc<Link>,
    interval: Duration,
    among_ranks: bool,
    sessions: u32,
    events: &dyn Events,
) -> Result<Vec<Box<dyn Sampler>>> {
    let Some(monitor) = Monitor::open(link, among_ranks, events)? else { return Ok(Vec::new()) };
    let known = monitor.events();
    let (_, samplers) = sampling::start_sampling(monitor, known, interval, "thread", sessions)?;
    Ok(samplers.into())
}
