//! `mindful raw`: the I/O engine alone, in one step or in the jobs that Orion and its like made known.

mod csv;
mod io_job;

use std::collections::BTreeMap;

use clap::ArgMatches;
use mindful_analyze::io_job::{LARGE, SMALL, SPAN, large, small};
use mindful_core::plan::Plan;
use mindful_core::result::{StepSummary, Validity};
use mindful_core::run::Point;
use mindful_core::settings::{Origin, Settings};
use mindful_core::{Error, Result};
use mindful_raw::calibrate::{Calibration, Outcome};
use mindful_raw::orion;
use mindful_runner::hooks::Phase;
use mindful_runner::series::Series;
use mindful_runner::{Context, job};

use crate::commands::{run, show};
use crate::context;
use crate::exit::Exit;
use crate::{layers, store};
use csv::Matrices;
use io_job::Job;

/// Measures what the keys ask for.
pub fn raw(matches: &ArgMatches) -> Result<Exit> {
    let mut settings = layers::settings(matches)?;
    name_target(matches, &mut settings)?;
    read_whole(&mut settings);
    let job = io_job::of(&mut settings)?;
    let csv = settings.get("csv").map(Matrices::begin).transpose()?;
    let context = context::with(settings, store::open(matches)?)?;
    let json = context::wants_json(matches);
    let Some(job) = job else { return run::measured(&context, json, None) };
    let (id, outcome) = measured(&context, &job)?;
    let validity = show::stored(&context.store, &id, json, true)?;
    if let Some(csv) = csv {
        csv.write(&context.store.read(&id)?)?;
    }
    match (outcome.and(context.hook(Phase::End, &id)), validity) {
        (Err(error), _) => Err(error),
        (Ok(()), Validity::Invalid) => Ok(Exit::Invalid),
        (Ok(()), _) => Ok(Exit::Ok),
    }
}

/// The target: a bare path is one of the raw engine's.
fn name_target(matches: &ArgMatches, settings: &mut Settings) -> Result<()> {
    let next = "give --target raw:PATH, of a file or device";
    if let Some(path) = matches.get_one::<String>("path") {
        if matches.get_one::<String>("target").is_some() {
            return Err(Error::plan("both a path and --target are given", "give one of them"));
        }
        let url = if path.starts_with("raw:") { path.clone() } else { format!("raw:{path}") };
        settings.set("target", url, Origin::Flag("PATH".to_owned()));
    }
    match settings.given("target") {
        Some(url) if url.starts_with("raw:") => Ok(()),
        Some(_) => Err(Error::plan(format!("{}: `mindful raw` measures files", settings.place("target")), next)),
        None => Err(Error::plan("`mindful raw` does not know what to measure", next)),
    }
}

/// One session reads one schema: it is to read all of the files, unless schemas are what was asked for.
fn read_whole(settings: &mut Settings) {
    if ["schemas", "hot_schema", "whole"].iter().any(|key| settings.given(key).is_some()) {
        return;
    }
    settings.set("whole", "on", Origin::Default);
    if settings.given("scale").is_some() {
        // A file that is yet to be made is as large as said.
        settings.set("schemas", "1", Origin::Default);
    }
}

/// All steps of `job` in one run folder: its id, and how it ended.
fn measured(context: &Context, job: &Job) -> Result<(String, Result<()>)> {
    if job.keeps_several(&context.settings)? {
        mindful_raw::require_io_uring("a session of several I/Os in flight")?;
    }
    let target = context.open()?;
    let (_, dataset) = job::ready(context, &*target)?;
    job::prepare(context, &*target, &context.plan.workload(&dataset)?)?;
    if dataset.schemas > context.plan.sessions {
        let text = format!(
            "the files hold {} schemas and {} of them are read: for all of it, leave --schemas away",
            dataset.schemas, context.plan.sessions
        );
        mindful_core::event::note(&*context.events(), text);
    }
    let series = Series::begin(context, &*target)?;
    drop(target);
    let id = series.id.clone();
    let mut walk = Walk { context, series };
    let steps = walk.series.hook(Phase::Before).and_then(|()| walk.all(job));
    let outcome = steps.and_then(|()| walk.series.hook(Phase::After));
    Ok((id, walk.series.end(&outcome).and(outcome)))
}

struct Walk<'a> {
    context: &'a Context,
    series: Series<'a>,
}

impl Walk<'_> {
    fn all(&mut self, job: &Job) -> Result<()> {
        match job {
            Job::Spans { spans, in_flight } => {
                for span in spans {
                    let load = orion::Point { small: *in_flight, large: 0 };
                    self.step(load, &[("span", span.clone())], Some(span))?;
                }
                Ok(())
            }
            Job::Points(points) => {
                for (at, load) in points.iter().enumerate() {
                    let of = format!("{} of {}", at + 1, points.len());
                    self.tell(&of, *load);
                    self.step(*load, &load.options(), None)?;
                }
                Ok(())
            }
            Job::Calibrate { limit_us } => self.calibrate(*limit_us),
        }
    }

    fn calibrate(&mut self, limit_us: f64) -> Result<()> {
        let mut calibration = Calibration::new(limit_us);
        while let Some(load) = calibration.next() {
            self.tell("of a calibration", load);
            self.step(load, &load.options(), None)?;
            calibration.record(load, self.outcome(load)?);
        }
        Ok(())
    }

    /// One step: the target opened with `options`, which no two steps share.
    fn step(&mut self, load: orion::Point, options: &[(&str, String)], span: Option<&str>) -> Result<()> {
        let mut settings = self.context.settings.clone();
        for (key, value) in options {
            settings.set(key, value, Origin::Default);
        }
        let target = self
            .context
            .stop
            .cut_off(|| self.context.engine.open(&self.context.plan.target, &settings, &self.context.events()))?;
        let dataset = target.dataset()?.ok_or_else(|| Error::run("the files are gone", "run it again"))?;
        let mut plan = self.context.plan.clone();
        if span.is_some() {
            // A part is as large as it is.
            plan = Plan { schemas: None, scale: None, ..plan };
        }
        let values = [(SMALL, load.small.to_string()), (LARGE, load.large.to_string())];
        let mut values: BTreeMap<String, String> = values.map(|(key, value)| (key.to_owned(), value)).into();
        values.extend(span.map(|span| (SPAN.to_owned(), span.to_owned())));
        let workload = plan.workload(&dataset)?;
        self.series.step(&*target, &plan, workload, Point { values, ..Point::default() })
    }

    /// What the last step did, as it is stored.
    fn outcome(&self, load: orion::Point) -> Result<Outcome> {
        let mut run = self.context.store.read(&self.series.id)?;
        run.steps.drain(..run.steps.len().saturating_sub(1));
        let analysis = mindful_analyze::analyze(&run);
        let step: Option<&StepSummary> = analysis.summary.steps.first();
        let outcome = step.and_then(|step| {
            if load.large > 0 {
                let op = large(step)?;
                return Some(Outcome { per_s: op.per_s, mean_us: op.mean_us?, p99_us: op.p99_us });
            }
            let op = small(step)?;
            Some(Outcome { per_s: op.per_s, mean_us: op.mean_us, p99_us: op.p99_us })
        });
        outcome.ok_or_else(|| Error::run("not one I/O came back in a step", "give a longer --duration"))
    }

    fn tell(&self, place: &str, load: orion::Point) {
        let text = format!("point {place}: {} small and {} large in flight", load.small, load.large);
        self.context.recording.tell(&text);
    }
}
