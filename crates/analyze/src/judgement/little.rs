//! Little's law in a closed loop: sessions without think time and stalls are always inside operations (docs/method.md,
//! Little's law).

use mindful_core::contract::file_read::InFlight;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::LoopSite;

use crate::figures::work::Work;
use crate::io_job;

/// Largest share of a slice that a loop in the database may take for itself.
pub(crate) const MAX_LOOP_SHARE: f64 = 0.5;
/// Share of all sessions below which sessions outside of operations are ignored.
const LEAST_STALLED: f64 = 0.001;

/// Deviation from Little's law, `|N_busy - X R| / N_busy`. In an open loop idle sessions are part of the plan. With
/// operations of several blocks, the number that shares the I/Os of a session is unknown.
///
/// A loop inside the database spends time between operations (draws, histograms), which is not a stall of the client.
/// Up to half of a slice, it counts into the residence time `R`.
pub(crate) fn breach(run: &Run, step: &StepRecord, work: &Work) -> Option<f64> {
    let busy = in_flight(run, step, work);
    let workload = step.head.workload.as_ref()?;
    let closed = workload.rate.is_none();
    let single = workload.work_unit == 1 && (workload.update_pct.is_none() || workload.update_work_unit == 1);
    if !single && in_flight_per_session(run, step) > 1 {
        return None;
    }
    let off = (busy - residing(step, work)).abs();
    // So few that the clocks' grain and the thread's way from pause to operation decide.
    let nothing = off < LEAST_STALLED * f64::from(work.sessions);
    (closed && work.ops() > 0.0 && busy > 0.0).then(|| if nothing { 0.0 } else { off / busy })
}

/// Operations in progress if no session thinks or stalls: one a session, or as many as each keeps in flight.
pub(crate) fn in_flight(run: &Run, step: &StepRecord, work: &Work) -> f64 {
    (f64::from(work.sessions) - work.thinking_sessions()) * f64::from(in_flight_per_session(run, step))
}

pub(crate) fn in_flight_per_session(run: &Run, step: &StepRecord) -> u32 {
    io_job::in_flight(run, &step.head).map_or(1, InFlight::total)
}

/// Average number of sessions inside operations, including the overhead of the loop in the database.
///
/// An operation counts to the slice in which it began. With hundreds of sessions it lasts for seconds. Then the number
/// at the begin of the window differs from that at its end, where the sessions drain. Therefore the number comes from
/// the time inside slices between the boundaries.
pub(crate) fn residing(step: &StepRecord, work: &Work) -> f64 {
    let working = work.working_sessions();
    let occupied = work.occupied.unwrap_or(working);
    match loop_share(work) {
        Some(share) if loops_in_server(step) && share <= MAX_LOOP_SHARE => occupied - work.thinking_sessions(),
        Some(_) => work.busy_sessions() * occupied / working,
        None => work.busy_sessions(),
    }
}

fn loops_in_server(step: &StepRecord) -> bool {
    step.head.workload.as_ref().is_some_and(|workload| workload.loop_site == LoopSite::Server)
}

/// Share of the time in slices, pauses apart, that was spent outside of operations.
pub(crate) fn loop_share(work: &Work) -> Option<f64> {
    let working = work.working_sessions() - work.thinking_sessions();
    (working > 0.0).then(|| 1.0 - work.busy_sessions() / working)
}
