//! The matrices of a job on files, as CSV files for scripts that read Orion's.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use mindful_analyze::figures::blocks::block_bytes;
use mindful_analyze::figures::window::window;
use mindful_analyze::io_job::{large_bytes, load};
use mindful_core::contract::file_read::InFlight;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};
use mindful_record::file;
use mindful_report::export::matrix::{FILES, Figures, PointResult};

pub(super) struct Matrices {
    prefix: String,
}

impl Matrices {
    /// Refuses files that exist or cannot be written, before the job starts.
    pub(super) fn begin(prefix: &str) -> Result<Self> {
        let matrices = Self { prefix: prefix.to_owned() };
        for (end, _) in FILES {
            let path = matrices.path(end);
            if path.symlink_metadata().is_ok() {
                let what = format!("--csv: {} exists", path.display());
                return Err(Error::plan(what, "choose another prefix, or remove the file"));
            }
        }
        let any = matrices.path(FILES[0].0);
        let folder = any.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => Ok(matrices),
            _ => Err(Error::plan(format!("--csv: no folder {}", folder.display()), "create it first")),
        }
    }

    fn path(&self, end: &str) -> PathBuf {
        PathBuf::from(format!("{}{end}", self.prefix))
    }

    pub(super) fn write(&self, run: &Run) -> Result<()> {
        let results: Vec<PointResult> = run.steps.iter().filter_map(|step| point_result(run, step)).collect();
        for (end, content) in FILES {
            let path = self.path(end);
            let written = file::put(&path, false, |mut file| file.write_all(content(&results).as_bytes()));
            written.map_err(|error| {
                let again = format!("the run is stored: `mindful show {}`", run.head.id);
                Error::run(format!("cannot write {}: {error}", path.display()), again)
            })?;
        }
        Ok(())
    }
}

/// A step as a point of the matrix; `None` without a measured window.
fn point_result(run: &Run, step: &StepRecord) -> Option<PointResult> {
    let (small, large) = load(&step.head.point)?;
    let seconds = window(step)?.seconds();
    let figures = |kinds: &[OpKind], bytes: Option<u64>| {
        let mut all = Recorder::new();
        for report in step.reports().filter(|report| report.index >= step.head.warmup_slices) {
            for kind in kinds {
                all.merge(&report.op(*kind).latency);
            }
        }
        Figures::new(all.drain(), bytes?, seconds)
    };
    Some(PointResult {
        point: InFlight { small, large },
        small: figures(&[OpKind::Select, OpKind::Update], block_bytes(run)),
        large: figures(&[OpKind::Scan], large_bytes(run)),
    })
}
