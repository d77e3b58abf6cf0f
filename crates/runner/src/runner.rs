//! A run from open to stored, for any source of steps.

use std::sync::Arc;

use mindful_analyze::step::analyze_step;
use mindful_core::contract::description::{Description, HeldFixed};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::target::Target;
use mindful_core::contract::watch::Circumstance;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::record::run::{Run, StepHead};
use mindful_core::result::{StepSummary, Validity};
use mindful_core::workload::Workload;
use mindful_core::{Error, ErrorKind, Result};
use mindful_host::Kernel;
use mindful_host::cpu::{self, Pinned};
use mindful_record::RunWriter;

use crate::abortable_target::AbortableTarget;
use crate::context::Context;
use crate::coordination::{Coordination, Ended, Show};
use crate::dataset::Ensured;
use crate::hooks::HookMoment;
use crate::measure::{Measured, StepPlan};
use crate::source::{NextStep, StepSource, System};
use crate::{cache, dataset, measure, preflight, self_proof};

/// An interrupted run that continues: its writer, and its record so far.
pub type Resumed = (RunWriter, Run);

/// Measures the steps of `source` one by one and stores them in a new folder, or in the folder of the `resumed` run.
/// Then `show` prints the result. The user's hooks are called before, between and after.
///
/// # Errors
/// A failure before the run began: then nothing is stored. Or the result cannot be stored or shown.
pub fn run(
    context: &Context,
    coordination: &dyn Coordination,
    source: &mut dyn StepSource,
    resumed: Option<Resumed>,
    show: Show<'_>,
) -> Result<Ended> {
    let ended = measure_and_store(context, coordination, source, resumed)
        .and_then(|own| coordination.finish(context, own, show));
    if let Err(error) = &ended {
        coordination.fail(error);
    }
    ended
}

fn measure_and_store(
    context: &Context,
    coordination: &dyn Coordination,
    source: &mut dyn StepSource,
    resumed: Option<Resumed>,
) -> Result<Ended> {
    coordination.gather()?;
    // No server is started for a run that cannot be stored.
    context.store.probe()?;
    let mut runner = Runner { context, coordination, opened: Vec::new(), steps: 0 };
    let own = context.system();
    runner.open(&own, context.plan.sessions, true)?;
    let known = runner.begin(source, resumed)?;
    let outcome = runner.hooked(source, &known);
    let id = known.head.id;
    let error = outcome.err();
    let hook_ended = error.as_ref().is_some_and(|error| error.kind == ErrorKind::Interrupted);
    let interrupted = hook_ended || context.stop.is_requested();
    let events = context.events();
    // Stored first: an interrupt while a server stops loses nothing of the run.
    events.emit(Event::Finished { interrupted, error: error.as_ref().map(ToString::to_string) });
    // A server ends before its result is reported.
    drop(runner);
    events.quiet();
    context.recording.close()?;
    let run = context.store.read(&id)?;
    let analysis = mindful_analyze::analyze(&run);
    context.store.write_summary(&analysis.summary)?;
    let valid = analysis.summary.validity != Validity::Invalid;
    Ok(Ended { run, analysis, error, interrupted, valid })
}

struct Runner<'a> {
    context: &'a Context,
    coordination: &'a dyn Coordination,
    /// At most one of each engine.
    opened: Vec<Opened>,
    steps: u32,
}

struct Opened {
    system: System,
    /// The server's processes while they are pinned to one CPU; they get their former CPUs back on drop.
    pinned: Option<Pinned>,
    target: AbortableTarget,
    description: Description,
    dataset: Dataset,
    /// The workload and sessions that the target was prepared for, until a step has used it.
    ready_for: Option<(Workload, u32)>,
    /// Circumstances by source, as they were when the target was first ready; `None` before that.
    before: Option<Vec<(String, Vec<Circumstance>)>>,
    /// Whether commits waited in the work it was made ready for last.
    commit_wait: Option<bool>,
}

impl Opened {
    fn ready(&mut self, plan: &Plan, sessions: u32) -> Result<Workload> {
        let wanted = (plan.workload(&self.dataset)?, sessions);
        if self.commit_wait.replace(wanted.0.commit_wait) != Some(wanted.0.commit_wait) {
            // Waiting commits may depend on a setting of the server, which mindful itself changes.
            self.before = None;
        }
        if self.ready_for.take().as_ref() != Some(&wanted) {
            self.target.prepare(&wanted.0, wanted.1)?;
        }
        Ok(wanted.0)
    }

    /// Fills the cache in block order if it can hold the working set, and describes the extent.
    fn fill_cache(&mut self, context: &Context, workload: &Workload) -> Result<()> {
        let cache =
            if self.description.files || self.description.simulated { None } else { self.description.cache_bytes };
        // If each session has a cache of its own, the engine decides which blocks it gets.
        let fits = |bytes| {
            self.description.cache_each_session || self.dataset.fits_cache(workload.schemas, workload.scale, bytes)
        };
        let found = cache.filter(|bytes| fits(*bytes)).map(|_| self.target.fill_cache(workload, &context.stop));
        let fill = match found.transpose()? {
            None => return Ok(()),
            Some(None) if self.description.cache_each_session => return Ok(()),
            Some(fill) => fill,
        };
        let (order, share) = cache::order_in_words(fill);
        let facts = &mut self.description.facts;
        let known = facts.insert(cache::ORDER.to_owned(), order.to_owned());
        facts.insert(cache::FILLED.to_owned(), share.clone());
        self.description.held_fixed.insert(cache::ORDER.to_owned(), HeldFixed::CacheOrder.name().to_owned());
        if known.as_deref() != Some(order)
            && let Some(finding) = cache::order_finding(fill, &share)
        {
            context.events().emit(Event::Finding(finding));
        }
        Ok(())
    }

    /// Reads the circumstances that steps are held against, unless they are known.
    fn read_circumstances(
        &mut self,
        context: &Context,
        workload: &Workload,
        leads: bool,
    ) -> Result<&[(String, Vec<Circumstance>)]> {
        let before = match self.before.take() {
            Some(known) => known,
            None if leads => {
                let found = measure::circumstances(context, &*self.target, workload)?;
                let of_target = !self.target.watches(workload)?.is_empty();
                if !of_target && !self.description.files && !self.description.simulated {
                    context.events().emit(Event::Finding(measure::settings_not_watched()));
                }
                found
            }
            None => Vec::new(),
        };
        Ok(self.before.insert(before))
    }

    /// Pins the server to one CPU, or restores its CPUs.
    fn pin(&mut self, on_one_cpu: bool) -> Result<()> {
        if self.pinned.is_some() == on_one_cpu {
            return Ok(());
        }
        self.pinned = None;
        // This changes the CPUs of the server, and so the reference of later steps.
        self.before = None;
        if on_one_cpu {
            let server = self.target.host_view().server_pid;
            let server = server.ok_or_else(|| Error::run("the server's first process is not known", "run it again"))?;
            let pinned = cpu::first().and_then(|cpu| Pinned::new(&Kernel::default(), server, &[cpu]));
            self.pinned = Some(pinned.map_err(|error| not_pinned(&error))?);
        }
        Ok(())
    }
}

pub(crate) fn not_pinned(error: &std::io::Error) -> Error {
    Error::run(format!("the server cannot be kept on one core: {error}"), "run as its owner or as root")
}

impl Runner<'_> {
    /// Opens `system` unless it is open; an earlier one of its engine ends first, for they may be the same server.
    fn open(&mut self, system: &System, sessions: u32, loads: bool) -> Result<&mut Opened> {
        let name = system.engine.name();
        let at = match self.opened.iter().position(|open| open.system.engine.name() == name) {
            Some(at) if self.opened[at].system.same(system) => at,
            other => {
                other.map(|at| self.opened.remove(at));
                let joins = !self.coordination.leads_target();
                if joins {
                    // The process that leads the target creates missing objects; then the others open them.
                    self.coordination.target_prepared()?;
                }
                let at_target = |error| self.coordination.at_target(error);
                let target = self.context.open_system(system, sessions).map_err(at_target)?;
                if joins {
                    target.join_run();
                }
                let (description, dataset) = if loads {
                    load(self.context, &*target).map_err(at_target)?
                } else {
                    let gone = || Error::run("the dataset of the target is gone", "run it again");
                    let dataset = target.dataset()?.ok_or_else(gone)?;
                    (target.describe()?, dataset)
                };
                self.opened.push(Opened {
                    system: system.clone(),
                    pinned: None,
                    target,
                    description,
                    dataset,
                    ready_for: None,
                    before: None,
                    commit_wait: None,
                });
                self.opened.len() - 1
            }
        };
        Ok(&mut self.opened[at])
    }

    /// Examines the run's own system and opens the folder: from here on, events are stored. Returns the run before its
    /// first step.
    fn begin(&mut self, source: &mut dyn StepSource, resumed: Option<Resumed>) -> Result<Run> {
        let (context, coordination) = (self.context, self.coordination);
        let (passes_over, differs) = (source.passes_over(), source.differs());
        let own = self.open(&context.system(), context.plan.sessions, true)?;
        source.opened(&*own.target, &own.dataset, &context.recording)?;
        if let Some((writer, run)) = resumed {
            context.recording.write_to(&Arc::new(writer));
            let finished = run.steps.iter().filter(|step| step.finished()).count() as u32;
            let known = Run { steps: Vec::new(), dataset: Some(own.dataset.clone()), ..run };
            self.steps = finished;
            return Ok(known);
        }
        match preflight_of(context, coordination, own, differs) {
            // The steps that cannot be carried are reported one by one.
            Err(error) if passes_over && error.kind == ErrorKind::Plan => {}
            done => done?,
        }
        let description = Description { words: context.engine.words(), ..own.description.clone() };
        let mut known = Run::new(context.head());
        known.host = Some(own.target.host_view());
        known.description = Some(description);
        known.dataset = Some(own.dataset.clone());
        record(context, &mut known)?;
        Ok(known)
    }

    fn hooked(&mut self, source: &mut dyn StepSource, known: &Run) -> Result<()> {
        let hook = |moment| {
            if self.coordination.leads_run() { self.context.hook(moment, &known.head.id) } else { Ok(()) }
        };
        hook(HookMoment::Before)?;
        let stepped = self.steps(source, known);
        stepped.and(hook(HookMoment::After))
    }

    fn steps(&mut self, source: &mut dyn StepSource, known: &Run) -> Result<()> {
        let mut finished: Option<StepSummary> = None;
        while let Some(next) = source.next(finished.as_ref(), &self.context.recording)? {
            let Measured { step, error, given_up } = self.step(next, &*source)?;
            if self.context.stop.is_requested() {
                return Ok(());
            }
            match error {
                Some(error) if given_up || !source.passes_over() => return Err(error),
                _ => finished = Some(analyze_step(known, &step).summary),
            }
            self.steps += 1;
        }
        Ok(())
    }

    /// Takes one step; a step that its target refuses is reported and skipped if the source allows it.
    fn step(&mut self, next: NextStep, source: &dyn StepSource) -> Result<Measured> {
        let (context, coordination, number) = (self.context, self.coordination, self.steps);
        let opened = self.open(&next.system, next.plan.sessions, next.loads)?;
        opened.pin(next.on_one_cpu)?;
        let endpoints = opened.description.endpoints;
        match opened.ready(&next.plan, coordination.sessions_on_target(next.plan.sessions)) {
            Ok(workload) => {
                if source.differs() {
                    let found = preflight::of_step(&*opened.target, &next.plan, number)?;
                    for finding in found {
                        context.events().emit(Event::Finding(finding));
                    }
                }
                if coordination.leads_target() {
                    opened.fill_cache(context, &workload)?;
                }
                opened.read_circumstances(context, &workload, coordination.leads_target())?;
                opened.target.in_step(|| {
                    let before = opened.before.as_deref().unwrap_or_default();
                    let asked = StepPlan { plan: &next.plan, workload, endpoints, number, point: next.point, before };
                    measure::step(context, coordination, &*opened.target, asked)
                })
            }
            Err(error) if source.passes_over() && error.kind == ErrorKind::Plan => {
                let smallest = Plan { work_unit: 1, update_work_unit: None, hot_spot: None, ..next.plan };
                let workload = Plan { schemas: None, scale: None, ..smallest.clone() }.workload(&opened.dataset)?;
                let placements = smallest.placements(workload.schemas, 1);
                let (step, workload, point) = (number, Some(workload), next.point);
                let head = StepHead { step, placements, workload, point, ..StepHead::default() };
                Ok(measure::passed_over(head, error, &*context.events()))
            }
            Err(error) => Err(error),
        }
    }
}

/// The description of `target`, and the dataset of the run's plan on it, loaded if it is missing.
fn load(context: &Context, target: &dyn Target) -> Result<(Description, Dataset)> {
    let (description, events) = (target.describe()?, context.events());
    let Ensured { dataset, loaded } =
        dataset::ensure(target, &context.plan, &description, &*events, &context.stop, &*context.clock)?;
    if context.stop.is_requested() {
        return Err(Error::interrupted("interrupted before the run began; nothing is stored"));
    }
    // A load may have restarted the server with other settings.
    Ok((if loaded { target.describe()? } else { description }, dataset))
}

/// Prepares the run's own system for its plan, and runs the preflight checks of it and its host; only of the host if
/// steps differ.
fn preflight_of(context: &Context, coordination: &dyn Coordination, own: &mut Opened, differs: bool) -> Result<()> {
    let workload = context.plan.workload(&own.dataset)?;
    let sessions = coordination.sessions_on_target(context.plan.sessions);
    let shapes = own.target.prepare(&workload, sessions).map_err(|error| coordination.at_target(error))?;
    if coordination.leads_target() {
        own.fill_cache(context, &workload)?;
    }
    own.commit_wait = Some(workload.commit_wait);
    own.read_circumstances(context, &workload, coordination.leads_target())?;
    own.ready_for = Some((workload, sessions));
    // The process that leads the target has checked it for all.
    if !coordination.leads_target() {
        return Ok(());
    }
    let events = context.events();
    events.emit(Event::Shapes { shapes });
    let simulated = context.clock.is_simulated();
    let found = if differs {
        preflight::of_host(&*own.target, simulated)
    } else {
        preflight::checks(&*own.target, &Plan { sessions, ..context.plan.clone() }, simulated)?
    };
    for finding in found.into_iter().chain(self_proof::finding(&*own.target, &context.store)?) {
        events.emit(Event::Finding(finding));
    }
    coordination.target_prepared()
}

/// Opens a new folder for the run `known`, and adds the folder's id and the facts of the host to it.
fn record(context: &Context, known: &mut Run) -> Result<()> {
    let writer = Arc::new(context.store.create(known.head.clone())?);
    known.head = writer.head.clone();
    if let (Some(description), Some(host)) = (known.description.clone(), known.host.clone()) {
        // A simulated run has no host.
        if !context.clock.is_simulated() {
            known.environment = mindful_observe::environment(&host, context.plan.facts);
        }
        let cached = cache::cached_facts(context, &description.engine_version, &known.environment)?;
        known.environment.extend(cached);
        writer.emit(Event::Environment { facts: known.environment.clone() });
        writer.emit(Event::Described { description, host });
    }
    context.recording.write_to(&writer);
    context.recording.fault().map_or(Ok(()), Err)
}
