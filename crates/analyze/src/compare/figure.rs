//! The figure that a comparison is about, the criterion by which sides are ordered, and their values in a run.

use std::collections::BTreeMap;
use std::fmt;

use mindful_core::Result;
use mindful_core::plan::sweep::Objective;
use mindful_core::plan::units::format_whole;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::stored_names;

use super::answer::RunValue;
use super::comparable;
use crate::analysis::Analysis;
use crate::figures::blocks::FEWEST_READS_PER_S;
use crate::step::StepAnalysis;

stored_names! {
    pub enum ComparedFigure {
        /// Blocks visited per second: higher is faster.
        Throughput = "throughput",
        /// Mean latency of an operation: lower is faster.
        Mean = "mean",
        /// 99th percentile of an operation: lower is faster.
        P99 = "p99",
        /// Read requests of the database per second, or blocks read where requests are not reported: higher is faster.
        Reads = "reads",
        /// Requests to the database's cache per second: higher is faster.
        LogicalReads = "logical-reads",
        /// Mean time of a read as the database saw it: lower is faster.
        ReadLatency = "read-latency",
        /// Operations for one unit of the currency that the plans' prices are in: higher is better.
        PerPrice = "per-price",
    }
}

/// The fewest operations that have ten beyond the 99th percentile.
const OPS_OF_P99: u64 = 1_000;

impl ComparedFigure {
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
    fn too_few(step: &StepAnalysis, percentile: f64, needed: u64) -> String {
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

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OrderedBy {
    /// A figure; of a sweep, its value at the step with the highest rate.
    Figure(ComparedFigure),
    /// Most reads per second in a step that met an objective.
    ReadsWithin(Objective),
    /// Price of a million reads.
    Price,
}

#[derive(Debug, Clone)]
pub(super) struct OrderedRun {
    pub(super) value: RunValue,
    pub(super) reads: Option<f64>,
}

type JudgedStep<'a> = (&'a StepRecord, &'a StepAnalysis);

impl OrderedBy {
    /// Parses the value of `--by`: `reads`, `reads at p99<=5ms`, `price`, `p99`, or another figure.
    ///
    /// # Errors
    /// Anything else.
    pub fn parse(text: &str) -> Result<Self> {
        match text.strip_prefix("reads at ") {
            Some(objective) => Objective::parse(objective.trim()).map(Self::ReadsWithin),
            None if text == "price" => Ok(Self::Price),
            None => ComparedFigure::parse(text).map(Self::Figure),
        }
    }

    pub(super) const fn higher_is_better(self) -> bool {
        match self {
            Self::Figure(figure) => figure.higher_is_faster(),
            Self::ReadsWithin(_) => true,
            Self::Price => false,
        }
    }

    pub const fn unit(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.unit(),
            Self::ReadsWithin(_) => ComparedFigure::Reads.unit(),
            Self::Price => "per million reads",
        }
    }

    pub(super) fn ordered_run(self, run: &Run, analysis: &Analysis) -> std::result::Result<OrderedRun, String> {
        let steps: Vec<JudgedStep> =
            run.steps.iter().zip(&analysis.steps).filter(|(_, step)| !step.summary.point.drift_check).collect();
        let (figure, step) = match self {
            Self::Figure(figure) => (figure, step_with(figure, &steps)?),
            Self::ReadsWithin(objective) => (ComparedFigure::Reads, step_within(&objective, analysis, &steps)?),
            Self::Price => (ComparedFigure::Reads, step_with(ComparedFigure::Reads, &steps)?),
        };
        // A million reads of a side that hardly reads have no price.
        let reads = ComparedFigure::Reads.value_in(step.1).filter(|reads| *reads >= FEWEST_READS_PER_S);
        let value = run_value(figure, run, step).filter(|value| value.value.is_normal() && value.value > 0.0);
        let value = value.ok_or_else(|| figure.lacking(step.1))?;
        if self != Self::Price {
            return Ok(OrderedRun { value, reads });
        }
        let price = run.head.plan.price.as_ref().ok_or("no price: pass --prices FILE, or --price when it runs")?;
        let per_million = price.per_million(value.value);
        Ok(OrderedRun {
            value: RunValue { machine: comparable::machine(run), ..RunValue::from_value(per_million) },
            reads,
        })
    }
}

impl fmt::Display for OrderedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figure(figure) => f.write_str(figure.name()),
            Self::ReadsWithin(objective) => write!(f, "reads at {objective}"),
            Self::Price => f.write_str("price"),
        }
    }
}

/// The step of a run that provides its figure: the only one, or that with the highest rate.
fn step_with<'a>(figure: ComparedFigure, steps: &[JudgedStep<'a>]) -> std::result::Result<JudgedStep<'a>, String> {
    match steps {
        [] => Err("the run has no step".to_owned()),
        [one] => Ok(*one),
        _ if figure.higher_is_faster() => highest(figure, steps).ok_or_else(|| figure.lacking(steps[0].1)),
        _ => Err(format!("a sweep has {} at each step: pass --by 'reads at p99<=5ms'", figure.name())),
    }
}

fn highest<'a>(figure: ComparedFigure, steps: &[JudgedStep<'a>]) -> Option<JudgedStep<'a>> {
    let known = steps.iter().filter_map(|step| Some((figure.value_in(step.1)?, *step)));
    known.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, step)| step)
}

/// The step with most reads that met `objective`; of a search for that objective, the one it found.
fn step_within<'a>(
    objective: &Objective,
    analysis: &Analysis,
    steps: &[JudgedStep<'a>],
) -> std::result::Result<JudgedStep<'a>, String> {
    let searched = analysis.summary.objective.as_ref().filter(|found| found.objective == objective.to_string());
    if let Some(found) = searched {
        let step = steps.iter().find(|(record, _)| record.head.step + 1 == found.step);
        return step.copied().ok_or_else(|| "the search found no load".to_owned());
    }
    let met = |(_, step): &JudgedStep| objective.is_met_by(&step.summary.ops);
    let good: Vec<_> = steps.iter().copied().filter(|step| met(step) == Some(true)).collect();
    highest(ComparedFigure::Reads, &good).ok_or_else(|| match (good.first(), steps.iter().find(|s| met(s).is_none())) {
        (Some(step), _) => ComparedFigure::Reads.lacking(step.1),
        (None, Some((_, step))) => ComparedFigure::too_few(step, objective.percentile, objective.min_ops()),
        (None, None) => format!("no step met {objective}"),
    })
}
