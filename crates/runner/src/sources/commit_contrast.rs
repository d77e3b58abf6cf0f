//! Commits of a database against bare writes that are made durable, as a source of steps.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mindful_analyze::commit_contrast::{LOAD, Turn, WAY, Way, turns};
use mindful_core::contract::description::HostView;
use mindful_core::contract::engine::Engine;
use mindful_core::contract::event::{Event, Events, Silent};
use mindful_core::contract::file_read::{FileOption, FileReads, ONE_AT_A_TIME};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::contract::{BARE_WRITES_FILE, MARK_FILE};
use mindful_core::dataset::{Content, Dataset, DatasetPlan, Extent};
use mindful_core::plan::Plan;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::record::run::Point;
use mindful_core::result::StepSummary;
use mindful_core::result::finding::codes;
use mindful_core::workload::{Commit, LoopSite};
use mindful_core::{Error, Result};

use crate::context::Context;
use crate::recording::Recording;
use crate::source::{NextStep, StepSource, System};
use crate::sources::contrast::{self, CACHE_WARMUP};
use crate::sources::estimate::Estimate;

/// Defaults of a turn: each update is a commit of one block.
const TURN: [(&str, &str); 5] =
    [("duration", "2s"), ("warmup", "1s"), ("sessions", "16"), ("work_unit", "1"), ("update_pct", "100")];
/// Blocks of 8 KiB of bare writes: 16 MiB, as `pg_test_fsync` has.
const BLOCKS: u64 = 2_048;

/// Adds the defaults of a contrast of commits to `settings`.
pub fn complete(settings: &mut Settings, engine: &dyn Engine) {
    // Commits are measured, not reads: the cache holds all data.
    if let Some((option, value)) = engine.cache_option(settings.get("target").unwrap_or_default(), true) {
        settings.set(option, value, Origin::Default);
    }
    contrast::set_turn(settings, &TURN);
}

/// The turns of a contrast of commits. Dropping it removes the file that it made.
pub struct CommitContrast<'a> {
    context: &'a Context,
    files: &'static dyn Engine,
    reads: &'static dyn FileReads,
    /// Folder for the file of bare writes, if the user chose one.
    folder: Option<PathBuf>,
    /// The file that was made.
    made: Option<PathBuf>,
    rounds: u32,
    left: VecDeque<Turn>,
}

impl<'a> CommitContrast<'a> {
    /// A contrast of the database in `context` with writes by `files`, an engine of bare files, to a file in `folder`.
    pub fn new(context: &'a Context, files: &'static dyn Engine, folder: Option<PathBuf>, rounds: u32) -> Result<Self> {
        let plan = &context.plan;
        let commits = plan.update_pct.percent() >= 100.0 && plan.commit == Commit::Each && plan.commit_wait;
        if !commits || plan.work_unit != 1 {
            return Err(Error::plan(
                "a contrast of commits updates single blocks, and each update commits",
                "omit --update-pct, --work-unit, --commit and --commit-wait",
            ));
        }
        let reads = files.file_reads().ok_or_else(|| Error::run("no engine writes bare files", "please report it"))?;
        Ok(Self { context, files, reads, folder, made: None, rounds, left: VecDeque::new() })
    }

    fn system_of_file(&self, path: &Path, options: &[(&str, &str)]) -> Result<System> {
        let options = options.iter().map(|(option, value)| (*option, (*value).to_owned()));
        System::new(self.files, self.reads.url(&[path.to_owned()]), options)
    }

    /// Makes the file of bare writes on the file system of the log; `Err` if that is not possible.
    fn make_file(&mut self, host: &HostView) -> std::result::Result<(), String> {
        let log = host.log_paths.first().filter(|_| host.local);
        let folder = self.folder.clone().or_else(|| own_folder(log?));
        let folder = folder.ok_or("pass --commits=DIR, a folder on the file system of the log")?;
        let device = |path: &Path| fs::metadata(path).map(|facts| facts.dev()).ok();
        if log.is_some_and(|log| device(log) != device(&folder)) {
            let folder = folder.display();
            return Err(format!("{folder} is not on the file system of the log: pass --commits=DIR, a folder that is"));
        }
        let path = folder.join(BARE_WRITES_FILE);
        let plan = DatasetPlan {
            schemas: 1,
            blocks_per_schema: BLOCKS,
            scan_blocks: 0,
            content: Content::INCOMPRESSIBLE,
            seed: 1,
            load_streams: 1,
        };
        let events: Arc<dyn Events> = Arc::new(Silent);
        let made = self.system_of_file(&path, &[]).and_then(|system| {
            let target = system.options.open(1, &events)?;
            target.load(&plan, &Silent, &StopFlag::default())
        });
        made.map_err(|error| error.to_string())?;
        self.made = Some(path);
        Ok(())
    }

    fn of_file(&self, path: &Path, turn: Turn, point: Point) -> Result<NextStep> {
        let load = turn.load.to_string();
        let (one, sync, forced) =
            ((FileOption::Io.name(), ONE_AT_A_TIME), (FileOption::SyncEvery.name(), "1"), ("sync", "on"));
        let (buffered, append) = (("direct", "off"), (FileOption::Append.name(), "on"));
        let options: &[(&str, &str)] = match turn.way {
            Way::Sync => &[one, buffered, sync],
            Way::Forced => &[one, buffered, forced],
            Way::ForcedDirect => &[one, ("direct", "on"), forced],
            Way::Append => &[one, buffered, sync, append],
            Way::InFlight | Way::Database => &[buffered, sync, (FileOption::Iodepth.name(), &load)],
        };
        let own = &self.context.plan;
        // `pg_test_fsync` writes the first block again and again; several in flight would wait for each other there.
        let one_place = matches!(turn.way, Way::Sync | Way::Forced | Way::ForcedDirect);
        let scale = one_place.then_some(Extent::Blocks(1));
        let plan = Plan { schemas: None, scale, loop_site: LoopSite::Client, sessions: 1, ..own.clone() };
        let system = self.system_of_file(path, options)?;
        Ok(NextStep { system, loads: false, plan, point, on_one_cpu: false })
    }

    fn of_database(&self, turn: Turn, point: Point) -> NextStep {
        let own = &self.context.plan;
        let plan = Plan { sessions: turn.load, warmup: own.warmup.max(CACHE_WARMUP), ..own.clone() };
        NextStep { system: self.context.system(), loads: true, plan, point, on_one_cpu: false }
    }
}

impl StepSource for CommitContrast<'_> {
    fn opened(&mut self, target: &dyn Target, _: &Dataset, recording: &Recording) -> Result<()> {
        if let Err(why) = self.make_file(&target.host_view()) {
            recording.emit(Event::Finding(codes::LEVEL_LEFT_OUT.finding(
                "The bare writes were omitted, so the ratio of commits to bare writes is unknown. Run the contrast on the \
                 host of the server, with a folder on the file system of its log.",
                why,
            )));
        }
        let measured = |way: &Way| *way == Way::Database || self.made.is_some();
        let ways: Vec<Way> = Way::ALL.into_iter().filter(measured).collect();
        self.left = turns(&ways, self.context.plan.sessions, self.rounds).into();
        let plans = self.left.iter().map(|_| &self.context.plan);
        recording.tell(&Estimate::of("step", plans).to_string());
        Ok(())
    }

    fn next(&mut self, _: Option<&StepSummary>, _: &Recording) -> Result<Option<NextStep>> {
        let Some(turn) = self.left.pop_front() else { return Ok(None) };
        let values = [(WAY, turn.way.name().to_owned()), (LOAD, turn.load.to_string())];
        let values = BTreeMap::from(values.map(|(key, value)| (key.to_owned(), value)));
        let point = Point { values, pass: turn.round, drift_check: false };
        Ok(Some(match &self.made {
            Some(path) if turn.way != Way::Database => self.of_file(path, turn, point)?,
            _ => self.of_database(turn, point),
        }))
    }
}

impl Drop for CommitContrast<'_> {
    fn drop(&mut self) {
        let Some(path) = self.made.take() else { return };
        let events: Arc<dyn Events> = Arc::new(Silent);
        // A file that cannot be removed is marked, and the next contrast reuses it.
        let _ = self.system_of_file(&path, &[]).and_then(|system| system.options.open(1, &events)?.cleanup());
    }
}

/// The folder on the path to `log` that belongs to mindful.
fn own_folder(log: &Path) -> Option<PathBuf> {
    log.ancestors().find(|folder| folder.join(MARK_FILE).is_file()).map(Path::to_owned)
}
