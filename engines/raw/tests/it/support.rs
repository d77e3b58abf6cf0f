//! A target on a real file, and slices of work on it.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![expect(clippy::unwrap_used, reason = "a test that cannot set up its parts has failed")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use mindful_conformance::{LoopDevice, Mount, dataset_plan as plan, run_as_root};
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::Dataset;
use mindful_core::plan::units::Share;
use mindful_core::workload::{LoopSite, Workload};
use mindful_core::{Result, Session, Target, contract::clock};

/// A folder on the file system of the build, which is on a device, while `/tmp` may be in memory.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

pub(crate) fn open_with(
    paths: &[&Path],
    options: &[(&str, &str)],
    events: &Arc<impl Events + 'static>,
) -> Result<Box<dyn Target>> {
    let events: Arc<dyn Events> = events.clone();
    let paths: Vec<_> = paths.iter().map(|path| path.to_str().unwrap()).collect();
    mindful_conformance::open_with(&mindful_raw::ENGINE, &format!("raw:{}", paths.join(",")), options, &events)
}

pub(crate) fn open(path: &Path, options: &[(&str, &str)]) -> Result<Box<dyn Target>> {
    open_with(&[path], options, &Arc::new(Silent))
}

pub(crate) fn load(target: &dyn Target, schemas: u32, blocks: u64) -> Result<Dataset> {
    target.load(&plan(schemas, blocks), &Silent, &StopFlag::default())
}

/// A file of `blocks` blocks of 8 KiB, made.
pub(crate) fn made(folder: &Path, blocks: u64) -> PathBuf {
    let path = folder.join("blocks");
    load(&*open(&path, &[]).unwrap(), 1, blocks).unwrap();
    path
}

/// Ways to read: at a depth, one at a time, and through the page cache.
pub(crate) const WAYS: [&[(&str, &str)]; 3] =
    [&[("iodepth", "8")], &[("io", "psync")], &[("iodepth", "2"), ("direct", "off")]];

pub(crate) fn reads(dataset: &Dataset) -> Workload {
    Workload {
        seed: 7,
        loop_site: LoopSite::Client,
        ..Workload::reads_only(dataset.schemas, dataset.blocks_per_schema, 1)
    }
}

pub(crate) fn updates(dataset: &Dataset, percent: &str) -> Workload {
    Workload { update_pct: Share::parse(percent).unwrap(), ..reads(dataset) }
}

pub(crate) const PLACEMENT: Placement = Placement { session: 0, sessions: 1, schema: 1, endpoint: 0 };

/// A session; waits while rings of other tests use this user's limit of locked memory.
pub(crate) fn session(target: &dyn Target, workload: &Workload) -> Result<Box<dyn Session>> {
    let began = Instant::now();
    loop {
        let session = target.prepare(workload, 1).and_then(|_| target.session(workload, PLACEMENT));
        let held = session.as_ref().is_err_and(|error| error.what.contains("Cannot allocate memory"));
        if !held || began.elapsed() > Duration::from_secs(30) {
            return session;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

pub(crate) fn slice(
    session: &mut dyn Session,
    millis: i64,
    first_op: u64,
    max_ops: Option<u64>,
) -> Result<SliceReport> {
    let begin_us = clock::now_us();
    session.run_slice(&SliceOrder { index: 0, begin_us, end_us: begin_us + millis * 1_000, first_op, max_ops })
}

/// Opens `path`, prepares `workload_of` its dataset and works one slice of so many operations.
pub(crate) fn work(
    path: &Path,
    options: &[(&str, &str)],
    workload_of: impl Fn(&Dataset) -> Workload,
    ops: u64,
) -> Result<SliceReport> {
    let target = open(path, options)?;
    let dataset = target.dataset()?.expect("a dataset");
    let mut session = session(&*target, &workload_of(&dataset))?;
    slice(&mut *session, 60_000, 0, Some(ops))
}

/// The target on `path`, and a session with `workload_of` its dataset.
pub(crate) fn working(
    path: &Path,
    options: &[(&str, &str)],
    workload_of: impl Fn(&Dataset) -> Workload,
) -> (Box<dyn Target>, Box<dyn Session>) {
    let target = open(path, options).unwrap();
    let workload = workload_of(&target.dataset().unwrap().unwrap());
    let session = session(&*target, &workload).unwrap();
    (target, session)
}

pub(crate) fn counter(target: &dyn Target, name: &str) -> f64 {
    let mut sampler = target.samplers().unwrap().remove(0);
    let at = sampler.metrics().iter().position(|metric| metric.name == name).unwrap();
    sampler.read().unwrap()[at].unwrap()
}

/// The error of something that must fail, as printed for a user.
pub(crate) fn refusal<T>(result: Result<T>) -> String {
    let line = result.err().expect("it is refused").to_string();
    assert!(!line.contains('\n'), "one line: {line}");
    assert!(line.contains(": ") || line.ends_with("was stopped"), "what, and the next step: {line}");
    line
}

pub(crate) fn run(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A new file system on `device`.
pub(crate) fn mount_ext4(device: &LoopDevice) -> Option<Mount> {
    run_as_root("mkfs.ext4", &["-q", "-F", device.name()])?;
    Mount::new(&[device.name()])
}
