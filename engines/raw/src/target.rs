//! The opened files.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::Sampler;
use mindful_core::contract::slice::Placement;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::watch::Watch;
use mindful_core::contract::{DatasetStore, OwnedObject};
use mindful_core::dataset::{Content, Dataset, DatasetPlan, LayoutProof, SchemaProof};
use mindful_core::plan::Plan;
use mindful_core::result::Finding;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result, Session, Target, contract::clock, plan::units, workload::draw};
use mindful_host::cpu;
use mindful_host::file_lock::{self, FileLocks};

use crate::access_pattern::Layout;
use crate::counters::{self, Counters, SyncSampler};
use crate::file_header::FileHeader;
use crate::guard::{Access, Source};
use crate::options::{Io, Options};
use crate::prepared::{self, Appended, Prepared};
use crate::psync::PsyncSession;
use crate::space::{Extent, Space, Span};
use crate::timer::Timer;
use crate::uring::UringSession;
use crate::watch::FilesWatch;
use crate::{check, file, ring};

pub(crate) struct RawTarget {
    options: Options,
    events: Arc<dyn Events>,
    counters: Arc<Counters>,
    locks: FileLocks,
    /// Others of its run use the files too.
    among_ranks: AtomicBool,
    prepared: Mutex<Option<Arc<Prepared>>>,
}

impl RawTarget {
    /// The target of `options`. Files need not exist yet; existing ones must be of a readable kind.
    pub(crate) fn open(options: Options, events: &Arc<dyn Events>) -> Result<Self> {
        let (counters, locks, prepared) = (Arc::default(), FileLocks::default(), Mutex::new(None));
        let among_ranks = AtomicBool::new(false);
        let target = Self { options, events: events.clone(), counters, locks, among_ranks, prepared };
        target.sources()?;
        Ok(target)
    }

    fn access(&self) -> Access {
        Access { direct: self.options.direct, sync: self.options.sync }
    }

    /// All files, open for reading; `None` if none exists yet.
    fn sources(&self) -> Result<Option<Vec<Source>>> {
        let missing: Vec<_> = self.options.paths.iter().filter(|path| path.symlink_metadata().is_err()).collect();
        if missing.len() == self.options.paths.len() {
            return Ok(None);
        }
        if let Some(path) = missing.first() {
            return Err(Error::target(
                format!("{} does not exist while others of the same URL do", path.display()),
                "name only files that exist, or only new ones",
            ));
        }
        let sources = self.options.paths.iter().map(|path| Source::open(path)).collect::<Result<Vec<_>>>()?;
        for (i, source) in sources.iter().enumerate() {
            if sources[..i].iter().any(|other| other.path == source.path) {
                let what =
                    format!("{} leads to {}, named before", self.options.paths[i].display(), source.path.display());
                return Err(Error::plan(what, "name each file once"));
            }
            check::part(source, i, &sources)?;
        }
        Ok(Some(sources))
    }

    fn space(&self, sources: &[Source], span: Span, unit: u64) -> Result<Space> {
        let extents: Vec<Extent> = sources.iter().map(|source| source.data).collect();
        Space::new(&extents, self.options.combine, span, unit)
    }

    fn dataset_of(&self, sources: &[Source]) -> Result<Option<Dataset>> {
        let mark = sources[0].mark;
        let same = |other: &FileHeader| mark.is_some_and(|mark| mark.data_bytes == other.data_bytes);
        if sources.iter().filter_map(|s| s.mark.as_ref()).any(|mark| !mark.complete() || !same(mark)) {
            return Ok(None);
        }
        let units = self.space(sources, self.options.span, self.options.block_size)?.units();
        let schemas = mark.filter(|_| !self.options.whole).map_or(1, |mark| mark.schemas);
        let mut blocks_per_schema = units / schemas;
        let as_made = |m: &FileHeader| m.block_bytes == self.options.block_size && self.options.span == Span::FULL;
        if let Some(mark) = mark.filter(as_made).filter(|_| !self.options.whole) {
            blocks_per_schema = blocks_per_schema.min(mark.blocks_per_schema);
        }
        if blocks_per_schema == 0 {
            return Err(Error::plan(
                format!("{units} blocks are too few for {schemas} schemas"),
                "pass a smaller --block-size or a larger --span",
            ));
        }
        Ok(Some(Dataset {
            schemas: schemas as u32,
            blocks_per_schema,
            scan_blocks: 0,
            block_bytes: self.options.block_size,
            bytes: schemas * blocks_per_schema * self.options.block_size,
            index_bytes: None,
            seed: mark.map_or(0, |mark| mark.seed),
            content: Content::INCOMPRESSIBLE,
        }))
    }

    fn require_dataset(&self, sources: &[Source]) -> Result<Dataset> {
        self.dataset_of(sources)?.ok_or_else(|| {
            Error::target(format!("{} is not filled to its end", sources[0].path.display()), "run `mindful load` first")
        })
    }

    fn require_sources(&self) -> Result<Vec<Source>> {
        self.sources()?.ok_or_else(|| {
            let path = self.options.paths[0].display();
            Error::target(format!("{path} does not exist"), "run `mindful load` first, or name an existing file")
        })
    }

    /// Why io_uring, which was requested, cannot be used here.
    fn no_uring(&self) -> Option<io::Error> {
        ring::available().err().filter(|_| self.options.io == Io::Uring)
    }

    /// The usable way to read blocks here, with a note if it differs from the requested one.
    fn usable_io(&self) -> Result<Io> {
        let Some(reason) = self.no_uring() else { return Ok(self.options.io) };
        if self.options.large.is_some() {
            ring::require("--large-iodepth")?;
        }
        self.events.emit(Event::Finding(prepared::no_io_uring(&reason, self.options.iodepth)));
        Ok(Io::Psync)
    }

    fn prepare_files(&self, workload: &Workload) -> Result<Prepared> {
        let sources = self.require_sources()?;
        let dataset = self.require_dataset(&sources)?;
        check::workload(workload, &self.options, &dataset)?;
        let writes = !workload.update_pct.is_none();
        let open = |source: &Source| {
            source.check_io_size(self.options.block_size, self.access())?;
            if writes { source.writer(self.access(), &self.options.destroy_data) } else { source.reader(self.access()) }
        };
        let files = sources.iter().map(open).collect::<Result<Vec<_>>>()?;
        if self.options.verify && sources.iter().any(|s| s.mark.is_none()) {
            return Err(Error::plan(
                "verify needs the pattern of files that mindful made, or of devices that it filled",
                "omit --verify, name a file that does not exist yet, or fill the device: `mindful load \
                 --destroy-data DEVICE`",
            ));
        }
        let large =
            self.options.large.map(|l| self.space(&sources, self.options.span, l.size).map(Arc::new)).transpose()?;
        let appended = if self.options.append { Some(begin_append(&sources[0], &files[0])?) } else { None };
        Ok(Prepared {
            appended,
            io: self.usable_io()?,
            files: files.into(),
            keys: sources.iter().map(|s| s.mark.map(|mark| mark.content_key())).collect(),
            paths: sources.iter().map(|s| s.path.clone()).collect(),
            writing: draw::mix64(clock::now_us().unsigned_abs()),
            seed: workload.seed,
            layout: Arc::new(Layout::new(dataset.seed, dataset.schemas, dataset.blocks_per_schema)),
            blocks: Arc::new(self.space(&sources, self.options.span, self.options.block_size)?),
            large_blocks: self.options.large.map_or(0, |l| l.size / self.options.block_size),
            large,
            counters: self.counters.clone(),
            events: self.events.clone(),
            reported_unregistered: AtomicBool::new(false),
            options: self.options.clone(),
        })
    }

    /// The files that a load of `plan` makes, which fit.
    fn new_files(&self, plan: &DatasetPlan) -> Result<Vec<(PathBuf, FileHeader)>> {
        let marks = file::marks(plan, self.options.block_size, self.options.paths.len())?;
        let files: Vec<(PathBuf, FileHeader)> = self.options.paths.iter().cloned().zip(marks).collect();
        file::check_room(&files.iter().map(|(path, mark)| (path.clone(), mark.file_bytes())).collect::<Vec<_>>())?;
        Ok(files)
    }

    fn begin_files(&self, plan: &DatasetPlan) -> Result<()> {
        let files = self.new_files(plan)?;
        for (i, (path, mark)) in files.iter().enumerate() {
            if let Err(error) = file::create(path, *mark) {
                // Only some of them would be neither a dataset nor a fresh start.
                files[..i].iter().for_each(|(made, _)| drop(std::fs::remove_file(made)));
                return Err(error);
            }
        }
        Ok(())
    }

    /// The dataset, if `sources` hold all of `plan` already; refuses files that hold something else.
    fn complete(&self, plan: &DatasetPlan, sources: &[Source]) -> Result<Option<Dataset>> {
        let whole = if sources.iter().all(|source| source.device.is_some()) {
            sources.iter().all(|source| source.mark.is_some_and(|mark| self.holds(plan, mark)))
        } else {
            check::same_dataset(plan, sources)?.schemas >= u64::from(plan.schemas)
        };
        if whole { self.dataset_of(sources) } else { Ok(None) }
    }

    fn holds(&self, plan: &DatasetPlan, mark: FileHeader) -> bool {
        let wanted = (u64::from(plan.schemas), plan.blocks_per_schema, plan.seed, self.options.block_size);
        (mark.schemas, mark.blocks_per_schema, mark.seed, mark.block_bytes) == wanted
    }

    /// Devices as they are where they hold `plan`, or part of it; else marked to be filled with it.
    fn begin_devices(&self, plan: &DatasetPlan, sources: Vec<Source>) -> Result<Vec<Source>> {
        if sources.iter().all(|source| source.mark.is_some_and(|mark| self.holds(plan, mark))) {
            return Ok(sources);
        }
        let marks = file::marks(plan, self.options.block_size, sources.len())?;
        file::begin_devices(&sources, &marks, &self.options.destroy_data)?;
        self.require_sources()
    }

    fn owned(&self) -> Result<Vec<(Source, OwnedObject)>> {
        let sources = self.options.paths.iter().filter(|path| path.symlink_metadata().is_ok());
        let judge = |source: Source| {
            let kept = match (source.device, source.mark) {
                (None, Some(_)) => None,
                (Some(_), _) => Some("mindful does not remove devices".to_owned()),
                (None, None) => Some("mindful did not make it".to_owned()),
            };
            let bytes = rustix::fs::fstat(&source.fd).ok().map(|stat| stat.st_size.unsigned_abs());
            let object = OwnedObject { name: source.path.display().to_string(), bytes, kept_because: kept };
            (source, object)
        };
        sources.map(|path| Source::open(path).map(judge)).collect()
    }
}

impl DatasetStore for RawTarget {
    fn dataset(&self) -> Result<Option<Dataset>> {
        self.sources()?.map_or(Ok(None), |sources| self.dataset_of(&sources))
    }

    fn load(&self, plan: &DatasetPlan, events: &dyn Events, stop: &StopFlag) -> Result<Dataset> {
        let there = self.sources()?;
        if there.is_none() {
            self.begin_files(plan)?;
        }
        if let Some(dataset) = there.map_or(Ok(None), |sources| self.complete(plan, &sources))? {
            return Ok(dataset);
        }
        let _alone = self.locks.alone(&self.options.paths)?;
        // An earlier path may now lead to another file.
        let sources = self.require_sources()?;
        let devices = sources.iter().all(|source| source.device.is_some());
        let sources = if devices { self.begin_devices(plan, sources)? } else { continue_files(plan, sources)? };
        if let Some(dataset) = self.dataset_of(&sources)? {
            return Ok(dataset);
        }
        let of = sources.iter().filter_map(|s| s.mark).map(|mark| mark.data_bytes).sum();
        let mut done = 0;
        for source in &sources {
            file::fill(source, &self.options.destroy_data, events, stop, &mut done, of)?;
        }
        let sources = self.require_sources()?;
        self.require_dataset(&sources)
    }

    fn check_room(&self, plan: &DatasetPlan, _events: &dyn Events) -> Result<()> {
        if self.sources()?.is_some() {
            return Ok(());
        }
        self.new_files(plan).map(drop)
    }

    fn verify(&self, stop: &StopFlag) -> Result<LayoutProof> {
        let sources = self.require_sources()?;
        let dataset = self.require_dataset(&sources)?;
        if let Some(bare) = sources.iter().find(|source| source.mark.is_none()) {
            return Err(Error::target(
                format!("{} does not contain a pattern to prove, because mindful did not fill it", bare.path.display()),
                "it can be read as it is; to fill a device, pass --destroy-data, its name, --schemas and --scale",
            ));
        }
        let layout = Layout::new(dataset.seed, dataset.schemas, dataset.blocks_per_schema);
        let space = self.space(&sources, self.options.span, self.options.block_size)?;
        let good = file::good_blocks(&sources, &space, &layout, self.access(), stop)?;
        let schema = |(i, blocks): (usize, &u64)| SchemaProof {
            schema: i as u32 + 1,
            rows: dataset.blocks_per_schema,
            distinct_blocks: *blocks,
            rank_correlation: layout.schema(i as u32 + 1).rank_correlation(),
            sample: None,
        };
        Ok(LayoutProof {
            schemas: good.iter().enumerate().map(schema).collect(),
            cross_correlation: layout.cross_correlation(),
            proven_at_us: clock::now_us(),
        })
    }

    fn inventory(&self) -> Result<Vec<OwnedObject>> {
        Ok(self.owned()?.into_iter().map(|(_, object)| object).collect())
    }

    fn cleanup(&self) -> Result<Vec<OwnedObject>> {
        let ours = self.owned()?.into_iter().filter(|(_, object)| object.kept_because.is_none());
        let ours: Vec<PathBuf> = ours.map(|(source, _)| source.path).collect();
        let _alone = self.locks.alone(&ours)?;
        let owned = self.owned()?;
        for (source, object) in &owned {
            if object.kept_because.is_none() {
                file::remove(source)?;
            }
        }
        Ok(owned.into_iter().map(|(_, object)| object).collect())
    }
}

impl Target for RawTarget {
    fn describe(&self) -> Result<Description> {
        let sources = self.sources()?.unwrap_or_default();
        let kernel = rustix::system::uname();
        let mut facts = BTreeMap::new();
        let mut fact = |name: &str, value: String| facts.insert(name.to_owned(), value);
        let on_off = |on: bool| if on { "on" } else { "off" }.to_owned();
        let wanted = (self.options.io, self.options.iodepth);
        let (io, iodepth) = if self.no_uring().is_some() { (Io::Psync, 1) } else { wanted };
        fact("io", format!("{io:?}").to_lowercase());
        fact("iodepth", iodepth.to_string());
        fact("direct", on_off(self.options.direct));
        fact("sync", on_off(self.options.sync));
        fact("fsync", self.options.fsync.to_string());
        fact("append", on_off(self.options.append));
        fact("pattern", format!("{:?}", self.options.pattern).to_lowercase());
        fact("look", self.options.look.name().to_owned());
        if let Some(large) = self.options.large {
            fact("large_iodepth", large.iodepth.to_string());
            fact("large_size", units::format_bytes(large.size));
        }
        for (i, source) in sources.iter().enumerate() {
            let kind = match (source.device, source.mark) {
                (Some(_), None) => "block device",
                (Some(_), Some(_)) => "block device filled by mindful",
                (None, Some(_)) => "made by mindful",
                (None, None) => "existing file",
            };
            fact(
                &format!("file_{}", i + 1),
                format!("{}: {kind}, {}", source.path.display(), units::format_bytes(source.data.bytes)),
            );
        }
        Ok(Description {
            engine_version: format!("Linux {}", kernel.release().to_string_lossy()),
            block_bytes: self.options.block_size,
            endpoints: 1,
            facts,
            files: true,
            ..Description::default()
        })
    }

    fn host_view(&self) -> HostView {
        let resolve = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        HostView {
            local: true,
            data_paths: self.options.paths.iter().map(resolve).collect(),
            in_process: true,
            ..HostView::default()
        }
    }

    fn admits(&self, plan: &Plan, loads: bool) -> Result<()> {
        if !loads || plan.scale.is_some() || self.sources()?.is_some() {
            return Ok(());
        }
        // A path without a size is as likely a typing error as intended.
        let list = self.options.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
        Err(Error::plan(
            format!("{} does not exist, and without --scale it is not created", list.join(", ")),
            format!("check the path, or make it: `mindful load --target raw:{}`", list.join(",")),
        ))
    }

    fn join_run(&self) {
        self.among_ranks.store(true, Ordering::SeqCst);
    }

    fn watches(&self, workload: &Workload) -> Result<Vec<Box<dyn Watch>>> {
        Ok(vec![Box::new(FilesWatch::new(self.host_view().data_paths, workload))])
    }

    fn prepare(&self, workload: &Workload, _sessions: u32) -> Result<Vec<AccessPath>> {
        self.require_sources()?;
        let among_ranks = self.among_ranks.load(Ordering::SeqCst);
        if workload.update_pct.is_none() {
            self.locks.share(&self.options.paths, self.options.shared || among_ranks)?;
        } else if among_ranks {
            return Err(Error::plan(
                "only one process can write bare files, but several ranks share this run",
                "run ranks with --update-pct 0, or pass --ranks 1 to a run that writes",
            ));
        } else {
            self.locks.hold_alone(&self.options.paths)?;
        }
        let prepared = self.prepare_files(workload).inspect_err(|_| self.locks.release())?;
        let shapes = prepared.shapes(workload);
        // The first timer takes its time.
        Timer::start();
        *self.prepared.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(prepared));
        self.counters.interrupted.store(false, Ordering::Relaxed);
        Ok(shapes)
    }

    fn checks(&self, _plan: &Plan) -> Result<Vec<Finding>> {
        Ok(file_lock::shared(&self.options.paths).into_iter().collect())
    }

    fn session(&self, workload: &Workload, placement: Placement) -> Result<Box<dyn Session>> {
        let prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(prepared) = prepared else {
            return Err(Error::run("a session was requested before the target was prepared", "prepare it first"));
        };
        if let Some(cpus) = &self.options.cpus {
            cpu::pin_thread(cpus).map_err(|error| {
                Error::plan(format!("cannot run on CPUs {cpus:?}: {error}"), "name CPUs that are online in --cpus")
            })?;
        }
        Ok(match prepared.io {
            Io::Uring => Box::new(UringSession::new(prepared, workload, placement)?),
            Io::Psync => Box::new(PsyncSession::new(prepared, workload, placement)?),
        })
    }

    fn samplers(&self) -> Result<Vec<Box<dyn Sampler>>> {
        let mut samplers = vec![counters::block_sampler(self.counters.clone(), self.options.block_size)];
        if self.options.commits() {
            samplers.push(Box::new(SyncSampler::new(self.counters.clone())));
        }
        Ok(samplers)
    }

    fn interrupt(&self) {
        self.counters.interrupted.store(true, Ordering::Relaxed);
    }
}

/// Existing files, for the same dataset or one of fewer schemas, which is then enlarged.
fn continue_files(plan: &DatasetPlan, mut sources: Vec<Source>) -> Result<Vec<Source>> {
    let held = check::same_dataset(plan, &sources)?;
    let marks = file::marks(plan, held.block_bytes, sources.len())?;
    let more = |(source, wanted): (&Source, &FileHeader)| {
        let data_bytes = source.mark.map_or(0, |mark| wanted.data_bytes.saturating_sub(mark.data_bytes));
        (source.path.clone(), data_bytes)
    };
    file::check_room(&sources.iter().zip(&marks).map(more).collect::<Vec<_>>())?;
    for (source, wanted) in sources.iter_mut().zip(marks) {
        match source.mark {
            Some(mark) if mark.schemas < wanted.schemas => file::grow(source, mark, &wanted)?,
            _ => {}
        }
    }
    Ok(sources)
}

/// The end of the file of `source`, open as `file`.
fn begin_append(source: &Source, file: &OwnedFd) -> Result<Appended> {
    let Some(mark) = source.mark.filter(|_| source.device.is_none()) else {
        let next = "name a file that does not exist yet, and mindful makes it";
        return Err(Error::plan(format!("{} does not grow: mindful did not make it", source.path.display()), next));
    };
    let begun = file.try_clone().and_then(|file| Ok(Appended::begin(file, mark.file_bytes())?));
    begun.map_err(|error| {
        Error::target(format!("cannot append to {}: {error}", source.path.display()), "check its file system")
    })
}
