//! All metrics of each source of counters, including those without a figure in the summary.

use mindful_core::contract::metric::{MetricKind, Phase};
use mindful_core::record::run::{Reading, Series, StepRecord};
use mindful_core::result::{ObservedMetric, ObservedSource};

use crate::figures::window::Window;
use crate::stats::moment::{mean, variance};

pub(crate) fn observed(step: &StepRecord, window: Option<&Window>) -> Vec<ObservedSource> {
    step.series.iter().map(|series| source(series, step, window)).collect()
}

fn source(series: &Series, step: &StepRecord, window: Option<&Window>) -> ObservedSource {
    let boundary_us = |reading: &Reading| step.boundaries_us.get(reading.boundary as usize).copied();
    let delay_us = |reading: &Reading| {
        let at_us = reading.at_us.saturating_add(step.clock_offset_us);
        Some(at_us.saturating_sub(boundary_us(reading)?) as f64)
    };
    let inside = |reading: &&Reading| {
        window.is_some_and(|window| (window.first_boundary..=window.last_boundary).contains(&reading.boundary))
    };
    let readings: Vec<&Reading> = series.readings.iter().filter(inside).collect();
    let at_us = |reading: &Reading| match series.phase {
        Phase::Boundary => Some(reading.at_us),
        // Values read in the middle of a slice were constant since the boundary before it.
        Phase::Settled => boundary_us(reading),
    };
    let metric = |number: usize, kind: MetricKind| {
        let known = readings.iter().filter_map(|reading| Some((at_us(reading)?, (*reading.values.get(number)?)?)));
        observed_metric(kind, &known.collect::<Vec<_>>())
    };
    let metrics = series.metrics.iter().enumerate();
    let finite = |values: &[f64]| mean(values).filter(|mean| mean.is_finite());
    ObservedSource {
        source: series.source.clone(),
        readings: series.readings.len() as u32,
        cost_us: finite(&series.readings.iter().map(|reading| reading.cost_us as f64).collect::<Vec<_>>()),
        delay_us: finite(&series.readings.iter().filter_map(delay_us).collect::<Vec<_>>()),
        metrics: metrics.map(|(number, known)| (known.name.clone(), metric(number, known.kind))).collect(),
    }
}

/// A metric of `readings`, each a time and a value.
fn observed_metric(kind: MetricKind, readings: &[(i64, f64)]) -> ObservedMetric {
    let growth = |(from_us, from): (i64, f64), (to_us, to): (i64, f64)| {
        (to - from) / (to_us.saturating_sub(from_us) as f64 / 1e6)
    };
    let (value, values): (Option<f64>, Vec<f64>) = match kind {
        MetricKind::Counter => {
            let ends = readings.first().zip(readings.last()).filter(|(first, last)| first.0 < last.0);
            let grown = ends.map(|(first, last)| growth(*first, *last)).filter(|growth| *growth >= 0.0);
            (grown, readings.windows(2).map(|pair| growth(pair[0], pair[1])).collect())
        }
        MetricKind::Gauge => {
            let values: Vec<f64> = readings.iter().map(|(_, value)| *value).collect();
            (mean(&values), values)
        }
    };
    let finite = |value: &f64| value.is_finite();
    ObservedMetric { value: value.filter(finite), deviation: variance(&values).map(f64::sqrt).filter(finite) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_known_by_its_growth_and_a_gauge_by_its_mean() {
        let readings = [(0, 100.0), (1_000_000, 110.0), (2_000_000, 140.0)];
        let counter = observed_metric(MetricKind::Counter, &readings);
        assert_eq!(counter.value, Some(20.0));
        assert!((counter.deviation.unwrap() - 200.0_f64.sqrt()).abs() < 1e-9, "{counter:?}");
        let gauge = observed_metric(MetricKind::Gauge, &readings);
        assert!((gauge.value.unwrap() - 350.0 / 3.0).abs() < 1e-9, "{gauge:?}");
        let fell = observed_metric(MetricKind::Counter, &[(0, 5.0), (1_000_000, 1.0)]);
        assert_eq!((fell.value, fell.deviation), (None, None));
    }
}
