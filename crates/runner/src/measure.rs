//! Measures one step: counters are read during the sessions, on the same boundaries.

use std::sync::Arc;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::description::HostView;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Phase, Sampler};
use mindful_core::contract::target::Target;
use mindful_core::contract::watch::{Circumstance, Watch};
use mindful_core::plan::Plan;
use mindful_core::record::run::{Point, StepHead, StepRecord, Watched};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mindful_observe::{Boundaries, Observer, Sources, Watching};

use crate::context::Context;
use crate::coordination::Coordination;
use crate::step::boundaries::EarlyStop;
use crate::step::follower::{Steady, StepFollower};
use crate::step::{StepObserver, StepOrder, StepOutcome, run_step};

pub(crate) struct Measured {
    pub step: StepRecord,
    pub error: Option<Error>,
    pub given_up: bool,
}

pub(crate) struct StepPlan<'a> {
    pub plan: &'a Plan,
    pub workload: Workload,
    pub endpoints: u32,
    /// Its number within the run, from 0.
    pub number: u32,
    pub point: Point,
    /// Circumstances by source, as they were before the run.
    pub before: &'a [(String, Vec<Circumstance>)],
}

/// Measures a step on a prepared target, with all counters that are readable.
pub(crate) fn step(
    context: &Context,
    coordination: &dyn Coordination,
    target: &dyn Target,
    step: StepPlan<'_>,
) -> Result<Measured> {
    let StepPlan { plan, workload, endpoints, number, point, before } = step;
    let early_stop = EarlyStop::default();
    let steady = plan.steady.then(|| Steady { early_stop: early_stop.clone(), least: plan.duration });
    let follower = StepFollower::new(context.events(), Arc::clone(&context.clock), steady);
    let events = Arc::clone(&follower) as Arc<dyn Events>;
    // One process reads the counters of a target and its host; each process reads its own.
    let leads = coordination.leads_target();
    // A target inside the process counts only the work of this process.
    let of_target = if leads || target.host_view().in_process { target.samplers()? } else { Vec::new() };
    let (mut samplers, findings) = match leads {
        true => host_samplers(context, target, &of_target)?,
        false if context.clock.is_simulated() => (Vec::new(), Vec::new()),
        // Of only this process and its host.
        false => (mindful_observe::host_samplers(&HostView::default(), false, &[]).0, Vec::new()),
    };
    samplers.extend(of_target);
    let watches = if leads { watches(context, target, &workload)? } else { Vec::new() };
    // Unreadable counters stay unreadable in all steps of a sweep.
    if number == 0 {
        for finding in findings {
            events.emit(Event::Finding(finding));
        }
    }
    let head = StepHead {
        step: number,
        placements: coordination.own_sessions(plan.placements(workload.schemas, endpoints)),
        workload: Some(workload),
        duration_s: (plan.ops.is_none() && !plan.steady).then_some(plan.duration.as_secs_f64()),
        ops: plan.ops,
        point,
        ..StepHead::default()
    };
    let (warmup, window) = plan.spans();
    let order = StepOrder { target, head, warmup, window, early_stop, coordination };
    let ends_early = plan.ops.is_some() || plan.steady;
    let watches = watches.into_iter().map(|watch| {
        let known = before.iter().find(|(source, _)| source == watch.name()).map_or(&[][..], |(_, found)| found);
        Watching::new(watch, known)
    });
    let mut observing = CounterReader {
        sources: Sources { samplers, watches: watches.collect() },
        before,
        events: Arc::clone(&events),
        clock: Arc::clone(&context.clock),
        ends_early,
        observer: Ok(None),
    };
    let recorded = StepRecord::new(order.head.clone());
    let outcome = run_step(order, &*events, &context.stop, &*context.clock, &mut observing);
    observing.observer?;
    let StepOutcome { error, interrupted, given_up } = outcome?;
    if error.is_none() && !interrupted {
        coordination.step_ended(plan.sessions, &*events);
        follower.conclude();
    }
    Ok(Measured { step: follower.take().unwrap_or(recorded), error, given_up })
}

/// Records a step that its target refused with `error`.
pub(crate) fn passed_over(head: StepHead, error: Error, events: &dyn Events) -> Measured {
    let mut step = StepRecord::new(head.clone());
    let end = Event::StepEnd { error: Some(error.to_string()), interrupted: false };
    (step.error, step.ended) = (Some(error.to_string()), true);
    events.emit(Event::Step(head));
    events.emit(end);
    Measured { step, error: Some(error), given_up: false }
}

struct CounterReader<'a> {
    sources: Sources,
    before: &'a [(String, Vec<Circumstance>)],
    events: Arc<dyn Events>,
    clock: Arc<dyn Clock>,
    /// Such a step ends when the work is done, or steady, not at the last boundary.
    ends_early: bool,
    observer: Result<Option<Observer>>,
}

impl StepObserver for CounterReader<'_> {
    fn begins(&mut self, boundaries_us: &[i64], clock_offset_us: i64) {
        let sources = std::mem::take(&mut self.sources);
        let events = Arc::clone(&self.events);
        for (source, values) in self.before {
            events.emit(Event::Watched(Watched {
                source: source.clone(),
                boundary: None,
                phase: Phase::Boundary,
                at_us: self.clock.now_us(),
                values: values.clone(),
            }));
        }
        let (boundaries, clock) = (Boundaries::Fixed(boundaries_us.to_vec()), Arc::clone(&self.clock));
        self.observer = Observer::start(sources, boundaries, clock_offset_us, events, clock).map(Some);
    }

    fn worked(&mut self, outcome: &StepOutcome) {
        let Some(observer) = self.observer.as_mut().ok().and_then(Option::take) else { return };
        if outcome.error.is_some() || outcome.interrupted {
            observer.stop();
        } else if self.ends_early {
            observer.close();
        } else {
            observer.finish();
        }
    }
}

/// Properties of the target and its host that must not change while `workload` is measured.
fn watches(context: &Context, target: &dyn Target, workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
    let mut watches = target.watches(workload)?;
    if !context.clock.is_simulated() {
        watches.extend(mindful_observe::host_watches(&target.host_view()));
    }
    Ok(watches)
}

pub(crate) fn circumstances(
    context: &Context,
    target: &dyn Target,
    workload: &Workload,
) -> Result<Vec<(String, Vec<Circumstance>)>> {
    let read = |mut watch: Box<dyn Watch>| Ok((watch.name().to_owned(), watch.read()?));
    watches(context, target, workload)?.into_iter().map(read).collect()
}

/// A finding for a system that is not watched.
pub(crate) fn settings_not_watched() -> Finding {
    let text = "mindful cannot watch the settings, counters and tables of this server during the run, so it does not find \
                a change of them. Change nothing while it measures.";
    codes::NOT_SEEN.finding(text, "server: changes during the run")
}

type Samplers = Vec<Box<dyn Sampler>>;

/// Samplers of this host, and of the server's if an exporter reports them; and findings about counters that neither
/// they nor those `of_target` provide.
pub fn host_samplers(
    context: &Context,
    target: &dyn Target,
    of_target: &[Box<dyn Sampler>],
) -> Result<(Samplers, Vec<Finding>)> {
    if context.clock.is_simulated() {
        return Ok((Vec::new(), Vec::new()));
    }
    let host = target.host_view();
    let (mut samplers, mut findings) = mindful_observe::host_samplers(&host, context.plan.device_trace, of_target);
    if let Some(url) = context.settings.get("node_exporter") {
        let (sampler, unseen) = mindful_observe::node_exporter(url, &host.data_paths, &context.stop)?;
        samplers.push(sampler);
        if !host.local {
            findings = vec![processes_not_seen()];
        }
        findings.extend(unseen);
    }
    Ok((samplers, findings))
}

fn processes_not_seen() -> Finding {
    let text = "The figures of the server's processes are unknown: an exporter reports its whole host only.";
    codes::NOT_SEEN.finding(text, "processes: the server's address does not belong to this host")
}
