//! The figure that a comparison is about, and its value in a run.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::plan::settings;
use mindful_core::plan::units::format_whole;
use mindful_core::record::run::{Run, StepRecord};

use super::answer::RunValue;
use super::comparable;
use crate::step::StepAnalysis;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedFigure {
    /// Blocks visited per second: higher is faster.
    Throughput,
    /// Mean latency of an operation: lower is faster.
    Mean,
    /// 99th percentile of an operation: lower is faster.
    P99,
    /// Read requests of the database per second, or blocks read where requests are not reported: higher is faster.
    Reads,
    /// Requests to the database's cache per second: higher is faster.
    LogicalReads,
    /// Mean time of a read as the database saw it: lower is faster.
    ReadLatency,
    /// Operations for one unit of the currency that the plans' prices are in: higher is better.
    PerPrice,
}

/// The fewest operations that have ten beyond the 99th percentile.
const OPS_OF_P99: u64 = 1_000;

const FIGURES: [(&str, ComparedFigure); 7] = [
    ("throughput", ComparedFigure::Throughput),
    ("mean", ComparedFigure::Mean),
    ("p99", ComparedFigure::P99),
    ("reads", ComparedFigure::Reads),
    ("logical-reads", ComparedFigure::LogicalReads),
    ("read-latency", ComparedFigure::ReadLatency),
    ("per-price", ComparedFigure::PerPrice),
];

impl ComparedFigure {
    /// Parses its name on the command line.
    ///
    /// # Errors
    /// An unknown name.
    pub fn parse(text: &str) -> Result<Self> {
        settings::parse_choice(text, &FIGURES)
    }

    pub fn name(self) -> &'static str {
        FIGURES.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| *name)
    }

    pub const fn higher_is_faster(self) -> bool {
        matches!(self, Self::Throughput | Self::Reads | Self::LogicalReads | Self::PerPrice)
    }

    pub const fn unit(self) -> &'static str {
        match self {
            Self::Throughput => "blocks/s",
            Self::Mean => "us mean",
            Self::P99 => "us p99",
            Self::Reads => "reads/s",
            Self::LogicalReads => "LIO/s",
            Self::ReadLatency => "us a read",
            Self::PerPrice => "operations per unit of money",
        }
    }

    pub fn value_in(self, step: &StepAnalysis) -> Option<f64> {
        let summary = &step.summary;
        let main = summary.ops.main();
        match self {
            Self::Throughput => summary.blocks_visited_per_s,
            Self::Mean => main?.mean_us,
            Self::P99 => main?.p99_us,
            Self::Reads => summary.read_requests_per_s.or(summary.physical_reads_per_s),
            Self::LogicalReads => summary.logical_reads_per_s,
            Self::ReadLatency => summary.read_latency_mean_us,
            Self::PerPrice => summary.per_price.operations,
        }
    }

    pub(crate) fn lacking(self, step: &StepAnalysis) -> String {
        match self {
            Self::P99 => Self::too_few(step, 99.0, OPS_OF_P99),
            Self::PerPrice => "no price: pass --prices FILE, or --price when it runs".to_owned(),
            Self::Throughput | Self::Mean | Self::Reads | Self::LogicalReads | Self::ReadLatency => {
                format!("no {}", self.unit())
            }
        }
    }

    /// Why `step` does not have a percentile that `needed` operations show.
    pub(super) fn too_few(step: &StepAnalysis, percentile: f64, needed: u64) -> String {
        match step.summary.ops.main().map_or(0, |op| op.count) {
            count if count < needed => format!(
                "p{percentile} needs {} operations, and a step has {}: measure longer, or with a smaller work unit",
                format_whole(needed),
                format_whole(count)
            ),
            _ => format!("p{percentile} is not known: the step did not keep its rate"),
        }
    }
}

/// The figure of a step of `run`, with its value in each slice where the figure is throughput.
pub fn run_value(figure: ComparedFigure, run: &Run, (step, judged): (&StepRecord, &StepAnalysis)) -> Option<RunValue> {
    let series = if figure == ComparedFigure::Throughput { blocks_per_s_by_slice(step) } else { Vec::new() };
    figure.value_in(judged).map(|value| RunValue { value, series, machine: comparable::machine(run) })
}

pub(super) fn blocks_per_s_by_slice(step: &StepRecord) -> Vec<f64> {
    let mut blocks: BTreeMap<u32, u64> = BTreeMap::new();
    for report in step.reports().filter(|report| report.index >= step.head.warmup_slices) {
        *blocks.entry(report.index).or_default() += report.ops.iter().map(|op| op.blocks).sum::<u64>();
    }
    let seconds = |index: u32| {
        let boundaries = step.boundaries_us.get(index as usize..index as usize + 2)?;
        Some((boundaries[1] - boundaries[0]) as f64 / 1e6)
    };
    blocks.into_iter().filter_map(|(index, blocks)| Some(blocks as f64 / seconds(index)?)).collect()
}
