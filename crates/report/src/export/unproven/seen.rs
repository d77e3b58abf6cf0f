//! Which numbers of a step enter a figure.

use std::collections::{BTreeMap, BTreeSet};

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::window::Window;
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::run::{Run, StepRecord};
use serde_json::Value;

use super::reason::{FELL, FOREIGN, OUTSIDE, PLAN, SERVICE, SESSION, TIMES};

/// Beginnings of the fields of a slice that describe its session.
const OF_SESSION: [&str; 4] = ["report.writer_wait_us", "report.long", "report.backlog", "long"];

/// A step, as far as it decides which of its numbers enter a figure.
#[derive(Debug)]
pub(super) struct SeenStep {
    /// Its head and boundaries, without slices and readings.
    record: StepRecord,
    window: Option<Window>,
    asked: Option<Value>,
    /// For each metric of a source whether it has a figure.
    metrics: BTreeMap<String, Vec<bool>>,
    /// Boundaries with a reading.
    read: BTreeSet<u64>,
    /// Whether the CPU of its sessions is a figure.
    cpu: bool,
}

impl SeenStep {
    pub(super) fn from_step(run: &Run, record: &StepRecord, step: &StepAnalysis) -> Self {
        let observed = step.summary.observed.iter().zip(&record.series).map(|(observed, series)| {
            let metric = |name: &String| observed.metrics.get(name);
            let is_figure = |name| metric(name).is_some_and(|m| m.value.is_some() || m.deviation.is_some());
            (series.source.clone(), series.metrics.iter().map(|metric| is_figure(&metric.name)).collect())
        });
        let readings = record.series.iter().flat_map(|series| &series.readings);
        Self {
            record: StepRecord { boundaries_us: record.boundaries_us.clone(), ..StepRecord::new(record.head.clone()) },
            window: step.window,
            asked: run.asked_step(record),
            metrics: observed.collect(),
            read: readings.map(|reading| reading.boundary.into()).collect(),
            cpu: step.summary.cpu.sessions_cores.is_some(),
        }
    }

    /// Why a number of its head may enter no figure.
    pub(super) fn of_head(&self, field: &str, pointer: &str) -> Option<&'static str> {
        const SHOWN: [&str; 4] =
            ["step.workload.schemas", "step.workload.scale", "step.workload.work_unit", "step.workload.update_pct"];
        let is_asked = field.starts_with("step.workload") || field.starts_with("step.placements");
        let follows = || self.asked.as_ref().is_some_and(|asked| asked.pointer(pointer).is_some_and(Value::is_number));
        // Warm-up slices, if the window was chosen by the data.
        let is_idle = field == "step.warmup_slices";
        (is_idle || is_asked && !SHOWN.contains(&field) && !follows()).then_some(PLAN)
    }

    /// The share of a slice in the window; 1 or 0 of a reading.
    pub(super) fn share(&self, event: &Value) -> f64 {
        let Some(window) = self.window else { return 0.0 };
        if event["event"] == "sample" {
            let inside = u64::from(window.first_boundary)..=u64::from(window.last_boundary);
            return f64::from(u8::from(event["boundary"].as_u64().is_some_and(|boundary| inside.contains(&boundary))));
        }
        let report = serde_json::from_value::<SliceReport>(event["report"].clone());
        report.map_or(0.0, |report| window.share_of(&report, &self.record))
    }

    pub(super) fn of_start(&self, field: &str, pointer: &str) -> Option<&'static str> {
        let boundary = pointer.rsplit('/').next().and_then(|at| at.parse().ok());
        let is_read = match field {
            "started.clock_offset_us" => !self.read.is_empty(),
            _ => boundary.is_some_and(|boundary: u64| self.read.contains(&boundary)),
        };
        (!is_read).then_some(TIMES)
    }

    pub(super) fn of_sample(&self, event: &Value, share: f64, field: &str, pointer: &str) -> Option<&'static str> {
        // Boundary, time and cost of each reading enter the mean delay and cost of its source.
        if !field.starts_with("sample.values") {
            return None;
        }
        let metric = || {
            let number: usize = pointer.rsplit('/').next()?.parse().ok()?;
            self.metrics.get(event["source"].as_str()?)?.get(number).copied()
        };
        if share > 0.0 { (metric() != Some(true)).then_some(FELL) } else { Some(OUTSIDE) }
    }

    pub(super) fn of_slice(&self, event: &Value, share: f64, field: &str) -> Option<&'static str> {
        let (kind, field) = field.split_once('.')?;
        if self.record.head.workload.is_none() {
            return Some(FOREIGN);
        }
        // A slice contains operations twice, and its sum and maximum follow from its latencies.
        let is_twice = field.ends_with("buckets[][1]") || field.ends_with(".ops[].ops") || field.ends_with(".max_ns");
        if is_twice {
            return None;
        }
        if share == 0.0 {
            return Some(OUTSIDE);
        }
        let responds = || {
            let ops = event["report"]["ops"].as_array();
            ops.into_iter().flatten().any(|op| !op["response"].is_null())
        };
        match field {
            "report.begin_us" | "report.end_us" | "reports" | "report.index" if kind == "merged_slice" => Some(TIMES),
            "report.cpu_us" if !self.cpu => Some(SESSION),
            "report.ops[].latency.buckets[][0]" if responds() => Some(SERVICE),
            "report.ops[].latency.buckets[][0]" | "report.ops[].response.buckets[][0]" if share < 0.5 => Some(OUTSIDE),
            _ if OF_SESSION.iter().any(|begin| field.starts_with(begin)) => Some(SESSION),
            _ => None,
        }
    }
}
