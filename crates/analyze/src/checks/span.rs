//! How small a part of the device the blocks visited are: caches below the file system may hold all of them.

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::plan::units::format_bytes;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::figures::blocks::block_bytes;
use crate::judgement::headline::{HeadlineKind, percent};
use crate::step::StepAnalysis;

/// Share of the device below which its caches may hold all that is visited: a drive has about a thousandth of its size
/// as memory, a controller, an array or a hypervisor more.
const SMALL_SPAN: f64 = 0.01;

/// Physical reads from so small a part of the device that a cache may have served them (docs/findings.md, F6). `None`
/// if reads came from higher levels, or sizes are unknown.
pub(super) fn small(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let physical =
        found.reads.as_ref().is_some_and(|of| matches!(of.kind, HeadlineKind::Storage | HeadlineKind::Database));
    let workload = step.head.workload.as_ref()?;
    let active = workload.scale.checked_mul(workload.schemas.into())?.checked_mul(block_bytes(run)?)?;
    let (name, device) = device(&run.environment)?;
    let share = active as f64 / device as f64;
    (physical && share < SMALL_SPAN).then(|| {
        let text = "Operations visited a small part of the device. A cache in the drive, the controller, the array \
                    or the hypervisor may hold all of it. Compare this run with one of ten times the --scale: \
                    without such a cache, both have the same latency.";
        let evidence =
            format!("{} of the {} of {name}, {}", format_bytes(active), format_bytes(device), percent(share));
        codes::SMALL_SPAN.finding(text, evidence)
    })
}

/// The devices below the file system of the data, and the sum of their bytes.
fn device(environment: &Facts) -> Option<(String, u64)> {
    let chain = Fact::StorageDevice.find(environment)?;
    let top = chain.split(" < ").next()?.to_owned();
    let size = |name: &str| DeviceFact::SizeBytes.find(name, environment)?.parse::<u64>().ok();
    let bytes =
        top.split(' ').map(size).try_fold(0, |all: u64, size| all.checked_add(size?)).filter(|bytes| *bytes > 0)?;
    Some((top, bytes))
}
