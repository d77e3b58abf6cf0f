//! `mindful sweep`: ladders of sessions and settings, on one dataset, in one run folder, resumable.

mod resumed;

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_core::engine::Target;
use mindful_core::event::{Event, note};
use mindful_core::plan::{KEYS, Plan};
use mindful_core::result::{StepSummary, Validity};
use mindful_core::run::{Point, Run, StepHead};
use mindful_core::settings::Settings;
use mindful_core::{Error, ErrorKind, Result};
use mindful_record::RunWriter;
use mindful_report::figure;
use mindful_runner::hooks::Phase;
use mindful_runner::sweep::{Done, Next, Sweep, named, others};
use mindful_runner::{Context, fits, job, measure};

use crate::commands::show;
use crate::context;
use crate::exit::Exit;
use crate::{layers, registry, store};

/// Walks the ladder, or goes on with one.
pub fn sweep(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let resumed = matches.get_one::<String>("resume").map(|name| store.go_on(&store.resolve(name)?)).transpose()?;
    let settings = match &resumed {
        Some(writer) => resumed::settings(writer.head(), store.is_own(writer.id()), matches)?,
        None => layers::settings(matches)?,
    };
    let keys: Vec<&str> = KEYS.iter().chain(registry::options()).map(|key| key.name).collect();
    let sweep = Sweep::new(&settings, &keys)?;
    let mut context = context::with(sweep.base.clone(), store)?;
    for settings in sweep.known() {
        context.engine.accepts(&context.plan.target, &settings)?;
    }
    // What is stored is the sweep itself, not its first point.
    context.settings = settings;
    let mut walk = Walk {
        sweep: &sweep,
        context: &context,
        began: Instant::now(),
        spent_before: Duration::ZERO,
        longest: None,
        target: None,
        dataset: None,
    };
    let ended = walk.all(resumed);
    context.events().quiet();
    let (id, outcome) = ended?;
    drop(walk);
    let validity = show::stored(&context.store, &id, context::wants_json(matches), true)?;
    match outcome.and(context.hook(Phase::End, &id)) {
        Err(error) => Err(error),
        Ok(()) if context.stop.requested() => Ok(Exit::Interrupted),
        Ok(()) if validity == Validity::Invalid => Ok(Exit::Invalid),
        Ok(()) => Ok(Exit::Ok),
    }
}

/// What the finished steps of `run` and its load took: from one start to the next, or `step_cost` where a pause lies
/// between them.
fn spent(run: &Run, step_cost: Duration) -> Duration {
    let begins: Vec<i64> = run.steps.iter().filter(|s| s.ended).filter_map(|s| s.borders_us.first().copied()).collect();
    let between = |pair: &[i64]| {
        Duration::from_micros(u64::try_from(pair[1].saturating_sub(pair[0])).unwrap_or(0)).min(step_cost)
    };
    let last = begins.last().map_or(Duration::ZERO, |_| step_cost);
    let loaded = Duration::try_from_secs_f64(run.load_s.unwrap_or(0.0)).unwrap_or_default();
    begins.windows(2).map(between).fold(loaded.saturating_add(last), Duration::saturating_add)
}

struct Walk<'a> {
    sweep: &'a Sweep,
    context: &'a Context,
    began: Instant,
    /// What the steps took that an earlier call had finished.
    spent_before: Duration,
    /// What the longest step of this call took, all of it.
    longest: Option<Duration>,
    /// The opened target, and the settings it was opened with.
    target: Option<(Settings, Box<dyn Target>)>,
    dataset: Option<mindful_core::dataset::Dataset>,
}

impl Walk<'_> {
    /// All steps; the id of the run folder, and how it ended.
    fn all(&mut self, resumed: Option<RunWriter>) -> Result<(String, Result<()>)> {
        let first = self.sweep.settings(&Point::default());
        self.open(&first)?;
        let id = match resumed {
            Some(writer) => {
                let id = writer.id().to_owned();
                self.spent_before = spent(&self.context.store.read(&id)?, self.sweep.step_cost());
                self.context.recording.write_to(&Arc::new(writer));
                id
            }
            None => job::record(self.context, self.target()?, self.target()?.describe()?)?,
        };
        let events = self.context.events();
        if let Some(text) = self.sweep.left_out() {
            note(&*events, text);
        }
        let steps = self.context.hook(Phase::Before, &id).and_then(|()| self.steps(&id));
        let outcome = steps.and_then(|()| self.context.hook(Phase::After, &id));
        let interrupted = self.context.stop.requested();
        let error = outcome.as_ref().err().map(ToString::to_string);
        events.emit(Event::Finished { interrupted, error });
        self.context.recording.close()?;
        Ok((id, outcome))
    }

    fn steps(&mut self, id: &str) -> Result<()> {
        let events = self.context.events();
        loop {
            let analysis = self.analysis(id)?;
            let done: Vec<Done> = analysis.summary.steps.iter().map(|s| Done { summary: s.clone() }).collect();
            self.tell(&done);
            if self.context.stop.requested() {
                return Ok(());
            }
            match self.sweep.next(&done, self.steps_left()) {
                Next::Step(point) => {
                    let began = Instant::now();
                    self.step(point, done.len() as u32)?;
                    self.longest = self.longest.max(Some(began.elapsed()));
                }
                Next::Over(words) => {
                    note(&*events, words);
                    return Ok(());
                }
            }
        }
    }

    /// Steps that the budget still holds, by the longest so far; `None` without a budget.
    fn steps_left(&self) -> Option<u32> {
        let left = self.sweep.budget()?.saturating_sub(self.spent_before + self.began.elapsed());
        Some((left.as_secs_f64() / self.longest.unwrap_or(self.sweep.step_cost()).as_secs_f64()) as u32)
    }

    /// What is stored, steps that did not end left out.
    fn analysis(&self, id: &str) -> Result<Analysis> {
        let mut run = self.context.store.read(id)?;
        run.steps.retain(|step| step.ended && !step.interrupted);
        Ok(mindful_analyze::analyze(&run))
    }

    fn step(&mut self, point: Point, number: u32) -> Result<()> {
        let mut plan = self.sweep.plan(&point)?;
        let settings = self.sweep.settings(&point);
        fits::fit(&mut plan, self.context.engine, &settings)?;
        self.open(&settings)?;
        let target = self.target()?;
        let dataset = self.dataset.clone().ok_or_else(|| Error::run("no dataset is loaded", "please report it"))?;
        let prepared = plan.workload(&dataset).and_then(|workload| {
            target.prepare(&workload, plan.sessions)?;
            Ok(workload)
        });
        match prepared {
            Ok(workload) => measure::step(self.context, target, &plan, workload, number, point).map(drop),
            // A point beyond what the target carries is told and passed over.
            Err(error) if error.kind == ErrorKind::Plan => self.pass_over(&plan, point, number, &error),
            Err(error) => Err(error),
        }
    }

    fn pass_over(&self, plan: &Plan, point: Point, number: u32, why: &Error) -> Result<()> {
        let dataset = self.dataset.as_ref().ok_or_else(|| Error::run("no dataset is loaded", "please report it"))?;
        let smallest = Plan { work_unit: 1, update_work_unit: None, hot_spot: None, ..plan.clone() };
        let workload = Plan { schemas: None, scale: None, ..smallest }.workload(dataset)?;
        let head = StepHead {
            step: number,
            seats: plan.seats(workload.schemas, 1),
            workload: Some(workload),
            warmup_slices: 0,
            duration_s: None,
            ops: None,
            point,
        };
        let events = self.context.events();
        events.emit(Event::Step(head));
        events.emit(Event::StepEnd { error: Some(why.to_string()), interrupted: false });
        Ok(())
    }

    /// Opens the target for `settings`, anew when the engine's own options differ from those it is open with.
    fn open(&mut self, settings: &Settings) -> Result<()> {
        let options = |s: &Settings| {
            let value = |name: &str| s.get(name).map(str::to_owned);
            self.context.engine.options().iter().map(|key| value(key.name)).collect::<Vec<_>>()
        };
        if self.target.as_ref().is_some_and(|(opened, _)| options(opened) == options(settings)) {
            return Ok(());
        }
        // The old one ends before the new one begins: they may be the same server.
        self.target = None;
        let events = self.context.events();
        let target =
            self.context.stop.cut_off(|| self.context.engine.open(&self.context.plan.target, settings, &events))?;
        let (_, dataset) = job::ready(self.context, &*target)?;
        self.dataset = Some(dataset);
        self.target = Some((settings.clone(), target));
        Ok(())
    }

    fn target(&self) -> Result<&dyn Target> {
        let opened = self.target.as_ref().map(|(_, target)| &**target);
        opened.ok_or_else(|| Error::run("the target is not open", "please report it"))
    }

    /// The last step, the time left and the curve so far.
    fn tell(&self, done: &[Done]) {
        let Some(last) = done.last() else { return };
        let rate = |step: &StepSummary| step.blocks_visited_per_s.map_or_else(|| "-".to_owned(), |r| format!("{r:.0}"));
        let alike = |d: &&Done| others(&d.summary.point) == others(&last.summary.point);
        let mut steps: Vec<&StepSummary> = done.iter().filter(alike).map(|d| &d.summary).collect();
        steps.sort_by_key(|step| step.sessions);
        let curve: Vec<_> =
            steps.iter().map(|step| format!("{}: {}", figure::count(step.sessions), rate(step))).collect();
        let left = self.sweep.budget().map_or_else(String::new, |budget| {
            let left = budget.saturating_sub(self.spent_before + self.began.elapsed());
            format!("; at most {} s left", left.as_secs())
        });
        let text = format!(
            "step {} ({}): {} blocks/s after {} s{left}; blocks/s by sessions so far: {}",
            done.len(),
            named(&last.summary.point.values),
            rate(&last.summary),
            self.began.elapsed().as_secs(),
            curve.join("  ")
        );
        self.context.recording.tell(&text);
    }
}
