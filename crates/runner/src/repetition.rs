//! Runs as comparisons see them: a figure, and the same second by second.

use std::collections::BTreeMap;

use mindful_analyze::compare::RunValue;
use mindful_analyze::{Analysis, StepAnalysis, catalogue};
use mindful_core::plan::settings;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_record::Store;

use crate::context::Context;
use crate::coordination::Alone;
use crate::runner;
use crate::source::Single;

/// Which figure is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
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

const FIGURES: [(&str, Figure); 7] = [
    ("throughput", Figure::Throughput),
    ("mean", Figure::Mean),
    ("p99", Figure::P99),
    ("reads", Figure::Reads),
    ("logical-reads", Figure::LogicalReads),
    ("read-latency", Figure::ReadLatency),
    ("per-price", Figure::PerPrice),
];

impl Figure {
    /// By its name on the command line.
    pub fn parse(text: &str) -> Result<Self> {
        settings::parse_choice(text, &FIGURES)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        FIGURES.iter().find(|(_, figure)| *figure == self).map_or("", |(name, _)| *name)
    }

    /// Whether more of it is faster.
    pub const fn higher_is_faster(self) -> bool {
        matches!(self, Self::Throughput | Self::Reads | Self::LogicalReads | Self::PerPrice)
    }

    /// What it is counted in, as it stands behind a number.
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

    /// The figure of `step`.
    pub fn of(self, step: &StepAnalysis) -> Option<f64> {
        match self {
            Self::Throughput => catalogue::BLOCKS_VISITED_PER_S.of(step),
            Self::Mean => catalogue::MEAN_US.of(step),
            Self::P99 => catalogue::P99_US.of(step),
            Self::Reads => catalogue::READ_REQUESTS_PER_S.of(step).or_else(|| catalogue::PHYSICAL_READS_PER_S.of(step)),
            Self::LogicalReads => catalogue::LOGICAL_READS_PER_S.of(step),
            Self::ReadLatency => catalogue::READ_LATENCY_MEAN_US.of(step),
            Self::PerPrice => catalogue::OPERATIONS_PER_PRICE.of(step),
        }
    }
}

/// A side of a comparison: its runs, read and judged.
pub type Side = Vec<(Run, Analysis)>;

/// Runs the plan of `context` once. A run that is invalid is an error, for no figure of it may stand beside others.
pub fn run(context: &Context) -> Result<(Run, Analysis)> {
    let mut source = Single::new(context.system(), context.plan.clone());
    let ended = runner::run(context, &Alone, &mut source, None, &mut |_, _| Ok(()))?;
    let id = ended.run.head.id.clone();
    if ended.interrupted {
        return Err(Error::interrupted("interrupted; the runs that ended are stored"));
    }
    match (ended.error, ended.analysis.summary.validity) {
        (None, Validity::Valid | Validity::Suspect) if throughput(&ended.analysis).is_some() => {
            Ok((ended.run, ended.analysis))
        }
        (Some(error), _) => Err(error.at(format_args!("run {id}"))),
        _ => Err(Error::run(format!("run {id} is invalid"), format!("see why: `mindful show {id}`"))),
    }
}

/// Blocks visited per second in the first step of a run.
pub fn throughput(analysis: &Analysis) -> Option<f64> {
    analysis.steps.first().and_then(|step| Figure::Throughput.of(step))
}

/// A stored run, read and judged.
pub fn judged(store: &Store, id: &str) -> Result<(Run, Analysis)> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    Ok((run, analysis))
}

/// What a comparison needs of a run's step: the figure, and for throughput the blocks of each second.
pub fn value(figure: Figure, judged: &StepAnalysis, step: &StepRecord) -> Option<RunValue> {
    let series = if figure == Figure::Throughput { per_slice(step) } else { Vec::new() };
    figure.of(judged).map(|value| RunValue { value, series })
}

/// Blocks visited per second in each slice of the window.
pub fn per_slice(step: &StepRecord) -> Vec<f64> {
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
