//! `mindful contrast`: mindless against mindful I/O, on the same bytes, in one command.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::ArgMatches;
use mindful_analyze::contrast::{ALL_CORES, CORES, PINNED, RUNG, Rung, Turn, turns};
use mindful_core::engine::{Engine, Target};
use mindful_core::event::Event;
use mindful_core::plan::Plan;
use mindful_core::result::{Finding, Severity};
use mindful_core::run::Point;
use mindful_core::settings::{Origin, Settings};
use mindful_core::workload::Loop;
use mindful_core::{Error, Result};
use mindful_host::Kernel;
use mindful_host::cpu::{self, Pinned};
use mindful_runner::hooks::Phase;
use mindful_runner::series::Series;
use mindful_runner::{Context, job};

use crate::commands::show;
use crate::context;
use crate::exit::Exit;
use crate::{args, layers, registry, store};

/// Repetitions where nobody says.
const REPETITIONS: u32 = 3;
/// Defaults of a turn: a contrast has dozens.
const TURN: [(&str, &str); 4] = [("duration", "2s"), ("warmup", "1s"), ("sessions", "4"), ("work_unit", "1")];
/// Time in which a database's cache takes in its data before it is measured as cached.
const CACHE_WARMUP: Duration = Duration::from_secs(4);

/// Measures all rungs in turn, pinned to one core and not, and says what lies between them.
pub fn contrast(matches: &ArgMatches) -> Result<Exit> {
    let repetitions = args::repetitions(matches, 1, REPETITIONS)?;
    let mut settings = layers::settings(matches)?;
    for (name, value) in TURN {
        if settings.given(name).is_none() {
            settings.set(name, value, Origin::Default);
        }
    }
    let context = context::with(settings, store::open(matches)?)?;
    if !context.plan.update_pct.is_none() || !context.plan.scan_pct.is_none() || context.plan.work_unit != 1 {
        return Err(Error::plan(
            "a contrast reads single blocks",
            "leave --update-pct, --scan-pct and --work-unit away",
        ));
    }
    let mut contrast = Contrast::open(&context)?;
    let mut series = Series::begin(&context, contrast.database()?)?;
    let all = turns(&contrast.rungs(), contrast.may_pin, repetitions);
    if !contrast.may_pin {
        context.events().emit(Event::Finding(one_core_left_out()));
    }
    let before = series.hook(Phase::Before);
    let turned = before.and_then(|()| all.into_iter().try_for_each(|turn| contrast.turn(turn, &mut series)));
    let outcome = turned.and_then(|()| series.hook(Phase::After));
    drop(contrast);
    let id = series.end(&outcome)?;
    show::stored(&context.store, &id, context::wants_json(matches), true)?;
    outcome.and(context.hook(Phase::End, &id)).map(|()| Exit::Ok)
}

struct Contrast<'a> {
    context: &'a Context,
    /// The server's processes as long as they are kept on one core; they get their own back before it ends.
    pinned: Option<Pinned>,
    /// The database as it is open now, and whether its data fits its cache.
    database: Option<(bool, Box<dyn Target>)>,
    /// The raw engine on the database's own files.
    raw: &'static dyn Engine,
    raw_url: String,
    /// A private server can be given a larger cache.
    private: bool,
    /// Whether mindful started the server, so that it may keep its processes on one core.
    may_pin: bool,
}

impl<'a> Contrast<'a> {
    fn open(context: &'a Context) -> Result<Self> {
        let private = context.plan.target.starts_with("embedded");
        let raw = registry::find("raw:")?;
        let mut contrast =
            Self { context, pinned: None, database: None, raw, raw_url: String::new(), private, may_pin: false };
        contrast.reopen(false)?;
        contrast.may_pin = contrast.database()?.host().private;
        let files = contrast.database()?.data_files()?;
        if files.is_empty() {
            return Err(Error::plan(
                "a contrast reads the database's own files, and none of them can be seen from here",
                "give --target embedded, or a PostgreSQL server on this host",
            ));
        }
        let paths: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        contrast.raw_url = format!("raw:{}", paths.join(","));
        Ok(contrast)
    }

    fn rungs(&self) -> Vec<Rung> {
        Rung::ALL.into_iter().filter(|rung| *rung != Rung::Cached || self.private).collect()
    }

    fn database(&self) -> Result<&dyn Target> {
        let open = self.database.as_ref().map(|(_, target)| &**target);
        open.ok_or_else(|| Error::run("the database is not open", "please report it"))
    }

    /// Opens the database with its cache large enough for all data, or small.
    fn reopen(&mut self, cached: bool) -> Result<()> {
        if self.database.as_ref().is_some_and(|(open, _)| *open == cached) {
            return Ok(());
        }
        // The old server ends before the new one begins: they share their data.
        self.pinned = None;
        self.database = None;
        let mut settings = self.context.settings.clone();
        if self.private {
            settings.set("mode", if cached { "lio" } else { "pio" }, Origin::Default);
        }
        let target = self
            .context
            .stop
            .cut_off(|| self.context.engine.open(&self.context.plan.target, &settings, &self.context.events()))?;
        job::ready(self.context, &*target)?;
        self.database = Some((cached, target));
        Ok(())
    }

    fn turn(&mut self, turn: Turn, series: &mut Series<'_>) -> Result<()> {
        let cores = if turn.pinned { PINNED } else { ALL_CORES };
        let values = [(RUNG, turn.rung.name()), (CORES, cores)].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let point = Point { values: BTreeMap::from(values), pass: turn.repetition, drift_check: false };
        match look(turn.rung) {
            Some(look) => self.raw_turn(look, turn.pinned, point, series),
            None => self.database_turn(turn, point, series),
        }
    }

    /// Raw reads by as many sessions as the database has, each with one read in flight.
    fn raw_turn(&self, look: &str, pinned: bool, point: Point, series: &mut Series<'_>) -> Result<()> {
        let mut settings = Settings::defaults(self.raw.options());
        for (name, value) in [("io", "psync"), ("direct", "on"), ("look", look)] {
            settings.set(name, value, Origin::Default);
        }
        if pinned {
            let cpu = cpu::first().map_err(|error| not_pinned(&error))?;
            settings.set("cpus", cpu.to_string(), Origin::Default);
        }
        let target = self.raw.open(&self.raw_url, &settings, &self.context.events())?;
        let files = target.dataset()?.ok_or_else(|| Error::run("the data files are gone", "run it again"))?;
        let plan = Plan { schemas: None, scale: None, looping: Loop::Client, ..self.context.plan.clone() };
        let workload = plan.workload(&files)?;
        series.step(&*target, &plan, workload, point)
    }

    /// Keeps the server on one core, or gives it back all it had.
    fn pin(&mut self, one_core: bool) -> Result<()> {
        if self.pinned.is_some() == one_core {
            return Ok(());
        }
        self.pinned = None;
        if one_core {
            let server = self.database()?.host().server_pid;
            let server = server.ok_or_else(|| Error::run("the server's first process is not known", "run it again"))?;
            let pinned = cpu::first().and_then(|cpu| Pinned::new(&Kernel::default(), server, &[cpu]));
            self.pinned = Some(pinned.map_err(|error| not_pinned(&error))?);
        }
        Ok(())
    }

    fn database_turn(&mut self, turn: Turn, point: Point, series: &mut Series<'_>) -> Result<()> {
        let cached = turn.rung == Rung::Cached;
        self.reopen(cached)?;
        self.pin(turn.pinned)?;
        let target = self.database()?;
        let mut plan = self.context.plan.clone();
        if cached {
            plan.warmup = plan.warmup.max(CACHE_WARMUP);
        }
        let dataset = target.dataset()?.ok_or_else(|| Error::run("the dataset is gone", "run it again"))?;
        let workload = plan.workload(&dataset)?;
        series.step(target, &plan, workload, point)
    }
}

/// Why there are no rungs on one core.
fn one_core_left_out() -> Finding {
    Finding::new(
        "one-core-left-out",
        Severity::Info,
        "The rungs on one core are left out: they would move the processes of a server that mindful did not start. \
         --target embedded has them.",
        "the server was running before",
    )
}

fn not_pinned(error: &std::io::Error) -> Error {
    Error::run(format!("the server cannot be kept on one core: {error}"), "run as its owner or as root")
}

/// What the raw engine does with each block at `rung`; `None` for the database.
fn look(rung: Rung) -> Option<&'static str> {
    match rung {
        Rung::Untouched => Some("none"),
        Rung::Byte => Some("byte"),
        Rung::Checksum => Some("checksum"),
        Rung::Parse => Some("parse"),
        Rung::Physical | Rung::Cached => None,
    }
}
