//! Comparison of two sides: the verdict at each point, percentiles, curves, prices, and differing facts.

use std::collections::BTreeMap;

use mindful_core::plan::Price;
use mindful_core::record::run::Run;
use mindful_core::result::comparison::{
    BothSides, ComparedRun, ComparisonSummary, CurveRatios, Difference, KindShifts, MachineSpread, Medians, NamedFact,
    PointVerdict, PriceRatio, VerdictSummary,
};
use mindful_core::result::{Severity, Summary};
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};

use super::answer::{Comparison, NoiseFloor, Question, RunValue, Side, Verdict};
use super::curve::curves;
use super::figure::{ComparedFigure, blocks_per_s_by_slice, run_value};
use super::machines::compare_runs;
use super::order::{Moment, Sequence};
use super::percentile::{RunLatency, percentile_shifts};
use super::provenance::joined_provenance;
use super::{comparable, machines};
use crate::analysis::Analysis;
use crate::knee::{LoadPoint, Search};
use crate::stats::interval::CONFIDENCE;
use crate::stats::moment;
use crate::stats::series::autocorrelation_time;
use crate::step::StepAnalysis;

const ROLES: [&str; 2] = ["baseline", "candidate"];

#[derive(Debug)]
pub struct Sides {
    /// Names of baseline and candidate: plan files, tags or runs.
    pub names: [String; 2],
    pub baseline: Side,
    pub candidate: Side,
    /// Whether two plans were run, which differ on purpose.
    pub planned: bool,
}

impl Sides {
    /// All runs, the baseline's first.
    pub fn runs(&self) -> impl Iterator<Item = &(Run, Analysis)> {
        self.baseline.iter().chain(&self.candidate)
    }

    /// Whether another tool measured some of the runs.
    pub fn has_imported(&self) -> bool {
        self.runs().any(|(run, _)| run.head.imported.is_some())
    }

    /// The figure compared by default: other tools do not record the operations of their sessions.
    pub fn default_figure(&self) -> ComparedFigure {
        if self.has_imported() { ComparedFigure::Reads } else { ComparedFigure::Throughput }
    }

    /// The facts in which the sides differ and which a comparison must hold fixed.
    pub fn differences(&self) -> Vec<Difference> {
        let [baseline, candidate] = [&self.baseline, &self.candidate].map(runs_alone);
        comparable::differences([&baseline, &candidate])
    }

    /// Compares the sides by `figure`. Differences up to `margin` (a share) do not matter; `noise` is the noise floor
    /// of their platform, if known.
    ///
    /// # Errors
    /// A run on both sides, no common point, a figure that has no ratio, or prices that cannot be compared.
    pub fn compare(&self, figure: ComparedFigure, margin: f64, noise: Option<NoiseFloor>) -> Result<ComparedSides> {
        let Self { names, baseline, candidate, .. } = self;
        if let Some(id) = shared_run(baseline, candidate) {
            let next = "name different runs for baseline and candidate";
            return Err(Error::plan(format!("run {id} is on both sides"), next));
        }
        let question = Question { margin, higher_is_faster: figure.higher_is_faster(), noise, ..Question::default() };
        let prices = prices_of_sides(baseline, candidate)?;
        let moments = [baseline, candidate].map(moments);
        let sequence = Sequence::from_sides(moments.each_ref().map(|side| side.iter().collect()), ROLES);
        let [all_a, all_b] = [baseline, candidate].map(runs_alone);
        let runs: [&[&Run]; 2] = [&all_a, &all_b];
        let is_rate = figure != ComparedFigure::PerPrice && figure.higher_is_faster();
        Ok(ComparedSides {
            figure,
            names: names.clone(),
            points: compare_points(figure, [baseline, candidate], sequence.as_ref(), &question)?,
            order: sequence.and_then(|sequence| sequence.in_words()),
            latency: compare_percentiles(baseline, candidate),
            curves: compare_curves(baseline, candidate),
            differences: [comparable::differences(runs), comparable::circumstances(runs)].concat(),
            idle_settings: comparable::idle_settings(runs),
            prices: prices.filter(|_| is_rate),
            machines: BothSides {
                baseline: spread_of_side(baseline, figure, margin),
                candidate: spread_of_side(candidate, figure, margin),
            },
        })
    }
}

fn moments(side: &Side) -> Vec<Moment> {
    side.iter().map(|(run, analysis)| Moment::from_run(run, analysis)).collect()
}

/// The first run that is on both sides, under one id or as a copy.
pub(super) fn shared_run(baseline: &Side, candidate: &Side) -> Option<String> {
    let same = |a: &Run, b: &Run| a.head.id == b.head.id || !a.steps.is_empty() && a.steps == b.steps;
    baseline.iter().find_map(|(a, _)| {
        let (b, _) = candidate.iter().find(|(b, _)| same(a, b))?;
        Some(if a.head.id == b.head.id { a.head.id.clone() } else { format!("{} (as {})", a.head.id, b.head.id) })
    })
}

#[derive(Debug)]
pub struct ComparedSides {
    pub figure: ComparedFigure,
    /// Names of baseline and candidate.
    pub names: [String; 2],
    /// Each point that both sides have; a plain run is one.
    pub points: Vec<ComparedPoint>,
    /// A remark if one side was measured before the other; `None` if the runs alternate.
    pub order: Option<String>,
    pub latency: Vec<KindShifts>,
    pub curves: Vec<CurveRatios>,
    pub differences: Vec<Difference>,
    /// Settings that differ between the sides but cannot affect the measured access path.
    pub idle_settings: Vec<String>,
    /// The price of an hour of each side, for figures that are rates.
    pub prices: Option<[Price; 2]>,
    pub machines: BothSides<Option<MachineSpread>>,
}

#[derive(Debug)]
pub struct ComparedPoint {
    /// The load: sessions, or the varied setting.
    pub load: f64,
    /// The comparison there. It is "faster" or "slower" only if that survives the correction for the number of points.
    pub comparison: Comparison,
    /// `p_beyond` with all points of the sweep taken into account.
    pub p_adjusted: Option<f64>,
    /// Medians of baseline and candidate.
    pub medians: [f64; 2],
    /// Why the order of the runs leaves the difference open.
    pub doubt: Option<String>,
}

impl ComparedSides {
    pub fn summary(&self, sides: &Sides) -> ComparisonSummary {
        let [baseline, candidate] = self.names.clone();
        let verdict = |point: &ComparedPoint| verdict_summary(self.figure, point);
        let (single, points) = match self.points.as_slice() {
            [point] => (Some(verdict(point)), Vec::new()),
            several => {
                let at_load = |point: &ComparedPoint| PointVerdict {
                    load: point.load,
                    p_adjusted: point.p_adjusted,
                    verdict: verdict(point),
                };
                (None, several.iter().map(at_load).collect())
            }
        };
        let for_the_money = match (self.points.as_slice(), &self.prices) {
            ([point], Some(prices)) => Some(price_ratio(&point.comparison, prices)),
            _ => None,
        };
        ComparisonSummary {
            format: 1,
            names: BothSides { baseline, candidate },
            single,
            points,
            runs: BothSides {
                baseline: compared_runs(&sides.baseline, Some(self.figure)),
                candidate: compared_runs(&sides.candidate, Some(self.figure)),
            },
            order: self.order.clone(),
            machines: self.machines.clone(),
            place: BothSides { baseline: place(&sides.baseline), candidate: place(&sides.candidate) },
            differing_facts: self.differences.clone(),
            idle_settings: self.idle_settings.clone(),
            prices: self.prices.clone(),
            for_the_money,
            latency: self.latency.clone(),
            curves: self.curves.clone(),
            gate: None,
        }
    }
}

fn place(side: &Side) -> Vec<NamedFact> {
    joined_provenance(side.iter().map(|(run, _)| run))
}

fn verdict_summary(figure: ComparedFigure, compared: &ComparedPoint) -> VerdictSummary {
    let (c, [baseline, candidate]) = (&compared.comparison, compared.medians);
    VerdictSummary {
        verdict: c.verdict,
        medians: Medians { baseline, candidate, unit: figure.unit().to_owned() },
        ratio: c.ratio,
        interval: c.interval.map(|i| [i.low, i.high]),
        margin: c.margin,
        runs_baseline: c.runs_baseline,
        runs_candidate: c.runs_candidate,
        runs_needed: c.runs_needed,
        basis: c.basis,
        doubt: compared.doubt.clone(),
        bootstrap_interval: c.bootstrap.map(|i| [i.low, i.high]),
        cliffs_delta: c.cliffs_delta,
    }
}

/// The runs of `side` in their order, each with its value of `figure`.
pub(crate) fn compared_runs(side: &Side, figure: Option<ComparedFigure>) -> Vec<ComparedRun> {
    let compared = |(_, analysis): &(Run, Analysis)| ComparedRun {
        value: figure.and_then(|figure| value_of_run(analysis, figure)),
        ..compared_run(&analysis.summary)
    };
    side.iter().map(compared).collect()
}

/// The figure of a run of one step; a sweep has many.
pub fn value_of_run(analysis: &Analysis, figure: ComparedFigure) -> Option<f64> {
    match analysis.steps.as_slice() {
        [step] => figure.value_in(step),
        _ => None,
    }
}

pub fn compared_run(summary: &Summary) -> ComparedRun {
    let mut because: Vec<String> = Vec::new();
    for finding in summary.findings.iter().filter(|f| f.severity >= Severity::Warning) {
        if !because.contains(&finding.code) {
            because.push(finding.code.clone());
        }
    }
    let (id, plan_file) = (summary.id.clone(), summary.plan_file.clone());
    ComparedRun { id, validity: summary.validity, value: None, because, plan_file }
}

/// How the machines of a side differ by the figure of its runs of one step.
fn spread_of_side(side: &Side, figure: ComparedFigure, margin: f64) -> Option<MachineSpread> {
    let value = |(run, analysis): &(Run, Analysis)| {
        let value = value_of_run(analysis, figure).filter(|value| *value > 0.0)?;
        Some(RunValue { machine: comparable::machine(run), ..RunValue::from_value(value) })
    };
    machines::spread(&side.iter().filter_map(value).collect::<Vec<_>>(), margin)
}

fn runs_alone(side: &Side) -> Vec<&Run> {
    side.iter().map(|(run, _)| run).collect()
}

/// One comparison for each point that both sides have, by rising load.
fn compare_points(
    figure: ComparedFigure,
    [baseline, candidate]: [&Side; 2],
    sequence: Option<&Sequence>,
    question: &Question,
) -> Result<Vec<ComparedPoint>> {
    let mut points = Vec::new();
    for values in points_of_side(baseline) {
        let same_point = |step: &StepAnalysis| {
            let point = &step.summary.point;
            point.values == values && !point.drift_check
        };
        let at_point = |side: &Side| -> Vec<RunValue> {
            let of_run = |(run, analysis): &(Run, Analysis)| {
                let steps = run.steps.iter().zip(&analysis.steps).filter(|(_, judged)| same_point(judged));
                steps.filter_map(|step| run_value(figure, run, step)).collect::<Vec<_>>()
            };
            side.iter().flat_map(of_run).collect()
        };
        let (a, b) = (at_point(baseline), at_point(candidate));
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let load = values.get("sessions").and_then(|n| n.parse().ok()).unwrap_or(points.len() as f64);
        let comparison = compare_runs(&a, &b, question)?;
        let [a, b] = [a, b].map(|side| side.iter().map(|run| run.value).collect::<Vec<_>>());
        let doubt = sequence.and_then(|sequence| sequence.doubt([&a, &b], question.margin));
        let medians = [a, b].map(|values| moment::median(&values).unwrap_or(f64::NAN));
        points.push(ComparedPoint { load, comparison, p_adjusted: None, medians, doubt });
    }
    if points.is_empty() {
        let mut steps = [baseline, candidate].into_iter().flatten().flat_map(|(_, analysis)| &analysis.steps);
        let lacking = steps.find(|step| figure.value_in(step).is_none()).map(|step| figure.lacking(step));
        let why = lacking.map_or_else(String::new, |why| format!(": {why}"));
        return Err(Error::run(
            format!("no point has {} on both sides{why}", figure.name()),
            "compare runs of the same plan or sweep, or another --figure",
        ));
    }
    points.sort_by(|one, other| one.load.total_cmp(&other.load));
    if points.len() > 1 {
        adjust(&mut points);
    }
    for point in points.iter_mut().filter(|point| point.doubt.is_some()) {
        point.comparison.verdict = Verdict::NotDecided;
    }
    Ok(points)
}

/// Takes the number of points into account: of many comparisons one is easily significant by chance.
fn adjust(points: &mut [ComparedPoint]) {
    let known: Vec<f64> = points.iter().filter_map(|point| point.comparison.p_beyond).collect();
    let tested = points.iter_mut().filter(|point| point.comparison.p_beyond.is_some());
    for (point, p) in tested.zip(holm(&known)) {
        point.p_adjusted = Some(p);
    }
    for ComparedPoint { comparison, p_adjusted, .. } in points {
        let survives = p_adjusted.is_some_and(|p| p <= (1.0 - CONFIDENCE) * (1.0 + 1e-9));
        if matches!(comparison.verdict, Verdict::Faster | Verdict::Slower) && !survives {
            comparison.verdict = Verdict::NotDecided;
        }
    }
}

/// The price of each side; `None` if a side has none.
///
/// # Errors
/// Runs of one side with different prices, and sides in different currencies.
fn prices_of_sides(baseline: &Side, candidate: &Side) -> Result<Option<[Price; 2]>> {
    let (a, b) = (price_of_side("baseline", baseline)?, price_of_side("candidate", candidate)?);
    let (Some(a), Some(b)) = (a, b) else { return Ok(None) };
    if a.currency == b.currency {
        return Ok(Some([a, b]));
    }
    Err(Error::plan(
        format!("the baseline costs {a} per hour, the candidate {b}: the currencies differ"),
        "use one currency for both prices",
    ))
}

fn price_of_side(name: &str, side: &Side) -> Result<Option<Price>> {
    let mut prices = side.iter().map(|(run, _)| run.head.plan.price.as_ref());
    let Some(first) = prices.next().flatten() else { return Ok(None) };
    match prices.find(|other| *other != Some(first)) {
        None => Ok(Some(first.clone())),
        Some(other) => {
            let other = other.map_or_else(|| "no price".to_owned(), Price::to_string);
            Err(Error::plan(
                format!("runs of the {name} have two prices, {first} and {other}"),
                "choose runs with the same --price on each side",
            ))
        }
    }
}

/// Work per unit of the currency, candidate by baseline.
pub fn price_ratio(comparison: &Comparison, [baseline, candidate]: &[Price; 2]) -> PriceRatio {
    let cheaper = baseline.per_hour / candidate.per_hour;
    PriceRatio {
        ratio: comparison.ratio * cheaper,
        interval: comparison.interval.map(|i| [i.low * cheaper, i.high * cheaper]),
    }
}

/// p values adjusted for their number (Holm 1979), in input order.
pub(crate) fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, i) in order.into_iter().enumerate() {
        largest = largest.max(p[i] * (p.len() - rank) as f64).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

fn points_of_side(side: &Side) -> Vec<BTreeMap<String, String>> {
    let mut points = Vec::new();
    for step in side.iter().flat_map(|(_, analysis)| &analysis.summary.steps) {
        if !points.contains(&step.point.values) {
            points.push(step.point.values.clone());
        }
    }
    points
}

/// The percentiles of each kind of operation at each point that both sides have.
fn compare_percentiles(baseline: &Side, candidate: &Side) -> Vec<KindShifts> {
    let mut compared = Vec::new();
    for values in points_of_side(baseline) {
        for kind in OpKind::ALL {
            let shifts = percentile_shifts(&latencies(baseline, &values, kind), &latencies(candidate, &values, kind));
            if !shifts.is_empty() {
                compared.push(KindShifts { at: values.clone(), kind: kind.name().to_owned(), shifts });
            }
        }
    }
    compared
}

fn latencies<'a>(side: &'a Side, values: &BTreeMap<String, String>, kind: OpKind) -> Vec<RunLatency<'a>> {
    let steps = side.iter().flat_map(|(run, analysis)| run.steps.iter().zip(&analysis.steps));
    steps
        .filter(|(_, step)| step.summary.point.values == *values && !step.summary.point.drift_check)
        .filter_map(|(record, step)| {
            let work = step.work.as_ref()?.kind(kind);
            let histogram = work.response.as_ref().unwrap_or(&work.service);
            let tau = autocorrelation_time(&blocks_per_s_by_slice(record));
            (work.ops > 0.0).then_some(RunLatency { histogram, tau })
        })
        .collect()
}

/// The curves over sessions that both sides have with enough points for a fit.
fn compare_curves(baseline: &Side, candidate: &Side) -> Vec<CurveRatios> {
    let (a, b) = (load_points(baseline), load_points(candidate));
    let both = a.into_iter().filter_map(|(at, points)| {
        let ratios = curves(&points, b.get(&at)?, &Search::default()).ok()?;
        Some(CurveRatios { at, ratios })
    });
    both.collect()
}

/// The points over sessions, by the other values of a sweep.
fn load_points(side: &Side) -> BTreeMap<BTreeMap<String, String>, Vec<LoadPoint>> {
    let mut curves: BTreeMap<_, Vec<LoadPoint>> = BTreeMap::new();
    for step in side.iter().flat_map(|(_, analysis)| &analysis.summary.steps) {
        if step.point.has_sessions() {
            curves.entry(step.point.without_sessions()).or_default().extend(crate::curve::point(step));
        }
    }
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holm_steps_down_and_never_passes_one() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (reported, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((reported - expected).abs() < 1e-12, "{adjusted:?}");
        }
        assert!(holm(&[0.9, 0.8]).iter().all(|p| *p <= 1.0));
        assert!(holm(&[]).is_empty());
    }
}
