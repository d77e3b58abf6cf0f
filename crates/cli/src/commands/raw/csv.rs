//! The matrices of a job on files as the CSV files that scripts around Orion read.

use std::fs::{self, File};
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
use mindful_report::matrix::{self, Figures, PointResult};

type Content = fn(&[PointResult]) -> String;

/// Ends of the file names, and what each file holds.
const FILES: [(&str, Content); 4] = [
    ("_iops.csv", matrix::iops_csv),
    ("_lat.csv", matrix::lat_csv),
    ("_mbps.csv", matrix::mbps_csv),
    ("_hist.csv", matrix::hist_csv),
];

/// Files to be written when a job has ended.
pub struct Matrices {
    prefix: String,
}

impl Matrices {
    /// Refuses, before anything is measured, files that could not be written or are there already.
    pub fn begin(prefix: &str) -> Result<Self> {
        let matrices = Self { prefix: prefix.to_owned() };
        for (end, _) in FILES {
            let path = matrices.path(end);
            if path.symlink_metadata().is_ok() {
                let what = format!("--csv: {} is there already", path.display());
                return Err(Error::plan(what, "give another prefix, or remove it"));
            }
        }
        let any = matrices.path(FILES[0].0);
        let folder = any.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => Ok(matrices),
            _ => Err(Error::plan(format!("--csv: there is no folder {}", folder.display()), "make it first")),
        }
    }

    fn path(&self, end: &str) -> PathBuf {
        PathBuf::from(format!("{}{end}", self.prefix))
    }

    /// Writes all files.
    pub fn write(&self, run: &Run) -> Result<()> {
        let results: Vec<PointResult> = run.steps.iter().filter_map(|step| point_result(run, step)).collect();
        for (end, content) in FILES {
            let path = self.path(end);
            let written = File::create_new(&path).and_then(|mut file| file.write_all(content(&results).as_bytes()));
            written.map_err(|error| {
                let again = format!("the run is stored: `mindful show {}`", run.head.id);
                Error::run(format!("{} cannot be written: {error}", path.display()), again)
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
