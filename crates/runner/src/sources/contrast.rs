//! Mindless against mindful I/O as a source of steps: bare files read with ever more done to each block, then the
//! database that holds them, on one CPU and on all.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use mindful_analyze::contrast::{ALL_CORES, CORES, LEVEL, Level, PINNED, Turn, turns};
use mindful_core::contract::engine::Engine;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::file_read::{BlockTouch, FileReads};
use mindful_core::contract::target::Target;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::record::run::Point;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, StepSummary};
use mindful_core::workload::LoopSite;
use mindful_core::{Error, Result};
use mindful_host::cpu;

use crate::context::Context;
use crate::recording::Recording;
use crate::runner::not_pinned;
use crate::source::{NextStep, StepSource, System};
use crate::sources::estimate::Estimate;

/// Defaults of a turn: a contrast has dozens.
const TURN: [(&str, &str); 4] = [("duration", "2s"), ("warmup", "1s"), ("sessions", "4"), ("work_unit", "1")];
/// Time in which a database's cache takes in its data before it is measured as cached.
pub(crate) const CACHE_WARMUP: Duration = Duration::from_secs(4);

/// Adds the defaults of a contrast to `settings`. A private server of `engine` begins with a cache that holds little of
/// its data.
pub fn complete(settings: &mut Settings, engine: &dyn Engine) {
    let url = settings.get("target").unwrap_or_default();
    if let Some((option, value)) = engine.cache_option(url, false) {
        settings.set(option, value, Origin::Default);
    }
    set_turn(settings, &TURN);
}

/// Sets keys that the user did not set to the values of a turn.
pub(crate) fn set_turn(settings: &mut Settings, turn: &[(&str, &str)]) {
    for (name, value) in turn {
        if settings.given_text(name).is_none() {
            settings.set(name, *value, Origin::Default);
        }
    }
}

pub struct Contrast<'a> {
    context: &'a Context,
    files: &'static dyn Engine,
    reads: &'static dyn FileReads,
    url: String,
    repetitions: u32,
    left: VecDeque<Turn>,
}

impl<'a> Contrast<'a> {
    /// A contrast of the database in `context` with reads by `files`, an engine that reads bare files.
    pub fn new(context: &'a Context, files: &'static dyn Engine, repetitions: u32) -> Result<Self> {
        let plan = &context.plan;
        if !plan.update_pct.is_none() || !plan.scan_pct.is_none() || plan.work_unit != 1 {
            return Err(Error::plan("a contrast reads single blocks", "omit --update-pct, --scan-pct and --work-unit"));
        }
        let reads = files.file_reads().ok_or_else(|| Error::run("no engine reads bare files", "please report it"))?;
        Ok(Self { context, files, reads, url: String::new(), repetitions, left: VecDeque::new() })
    }

    fn plan(&self, level: Level) -> Plan {
        let mut plan = self.context.plan.clone();
        if level == Level::Cached {
            plan.warmup = plan.warmup.max(CACHE_WARMUP);
        }
        plan
    }

    /// Reads of bare files by as many sessions as the database has, each with one read in flight.
    fn of_files(&self, touch: BlockTouch, turn: Turn, point: Point) -> Result<NextStep> {
        let cpu = turn.pinned.then(cpu::first).transpose().map_err(|error| not_pinned(&error))?;
        let system = System::new(self.files, self.url.clone(), self.reads.options(touch, cpu))?;
        let plan = Plan { schemas: None, scale: None, loop_site: LoopSite::Client, ..self.context.plan.clone() };
        Ok(NextStep { system, loads: false, plan, point, on_one_cpu: false })
    }

    fn of_database(&self, turn: Turn, point: Point) -> Result<NextStep> {
        let (own, plan) = (self.context.system(), self.plan(turn.level));
        let cache = own.engine.cache_option(&own.url, turn.level == Level::Cached);
        let system = match cache {
            Some((option, value)) => own.with_options([(option, value.to_owned())])?,
            None => own,
        };
        Ok(NextStep { system, loads: true, plan, point, on_one_cpu: turn.pinned })
    }
}

impl StepSource for Contrast<'_> {
    fn opened(&mut self, target: &dyn Target, _: &Dataset, recording: &Recording) -> Result<()> {
        let files = target.data_files()?;
        if files.is_empty() {
            recording.emit(Event::Finding(raw_left_out()));
        } else {
            self.url = self.reads.url(&files);
        }
        let may_pin = target.host_view().private;
        if !may_pin {
            recording.emit(Event::Finding(one_core_left_out()));
        }
        let cacheable = self.context.engine.cache_option(&self.context.plan.target, true).is_some();
        let measured = |level: &Level| match touch(*level) {
            Some(_) => !files.is_empty(),
            None => *level != Level::Cached || cacheable,
        };
        let levels: Vec<Level> = Level::ALL.into_iter().filter(measured).collect();
        self.left = turns(&levels, may_pin, self.repetitions).into();
        let plan = |turn: &Turn| self.plan(turn.level);
        recording.tell(&Estimate::of("step", &self.left.iter().map(plan).collect::<Vec<_>>()).to_string());
        Ok(())
    }

    fn next(&mut self, _: Option<&StepSummary>, _: &Recording) -> Result<Option<NextStep>> {
        let Some(turn) = self.left.pop_front() else { return Ok(None) };
        let cores = if turn.pinned { PINNED } else { ALL_CORES };
        let values =
            [(LEVEL, turn.level.name()), (CORES, cores)].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let point = Point { values: BTreeMap::from(values), pass: turn.repetition, drift_check: false };
        Ok(Some(match touch(turn.level) {
            Some(touch) => self.of_files(touch, turn, point)?,
            None => self.of_database(turn, point)?,
        }))
    }
}

/// Why bare files do not have any.
fn raw_left_out() -> Finding {
    codes::LEVEL_LEFT_OUT.finding(
        "The raw levels were omitted because the database's files cannot be read from here, so the time that the \
         database adds to a raw read is unknown. Run the contrast on the host of the files, as a user with the right \
         to read them.",
        "no data file of the target can be read on this host",
    )
}

fn one_core_left_out() -> Finding {
    codes::LEVEL_LEFT_OUT.finding(
        "The levels on one core were omitted because they would move the processes of a server that mindful did not \
         start. A private server has them.",
        "the server was running before",
    )
}

/// Use of each block of a bare file at `level`; `None` for the database.
const fn touch(level: Level) -> Option<BlockTouch> {
    match level {
        Level::Untouched => Some(BlockTouch::None),
        Level::Byte => Some(BlockTouch::Byte),
        Level::Checksum => Some(BlockTouch::Checksum),
        Level::Parse => Some(BlockTouch::Parse),
        Level::Physical | Level::Cached => None,
    }
}
