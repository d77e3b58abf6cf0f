//! Counters of a database and its host from one second to the next.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::escape;
use crate::figure::number;
use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Metric, MetricKind, Phase};

#[derive(Debug, Default)]
pub struct CounterFilter {
    /// Largest number of metrics of each unit, those that moved most: microseconds and blocks cannot be compared with
    /// each other.
    pub top: Option<usize>,
    /// Only metrics with a source or name that contains one of these.
    pub only: Vec<String>,
}

impl CounterFilter {
    pub fn is_given(&self) -> bool {
        self.top.is_some() || !self.only.is_empty()
    }

    fn shows(&self, line: &MetricRate) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| line.name.contains(part))
    }
}

#[derive(Debug, Default)]
pub struct WatchedSources {
    sources: Vec<Source>,
    /// Rates by boundary, each with the place of its source, until all sources were read.
    seconds: BTreeMap<u32, Vec<(usize, Vec<MetricRate>)>>,
}

/// A source with its last reading: when, and its values.
#[derive(Debug)]
pub(crate) struct Source {
    name: String,
    metrics: Vec<Metric>,
    pub phase: Phase,
    last: Option<(i64, Vec<Option<f64>>)>,
}

#[derive(Debug, Clone)]
pub(crate) struct MetricRate {
    /// `source/metric`.
    pub name: String,
    unit: String,
    kind: MetricKind,
    /// Growth per second of a counter, or the value of a gauge.
    pub value: Option<f64>,
}

#[derive(Debug)]
pub struct WatchedSecond {
    number: u32,
    lines: Vec<MetricRate>,
}

impl Source {
    pub(crate) fn new(name: String, metrics: Vec<Metric>, phase: Phase) -> Self {
        Self { name, metrics, phase, last: None }
    }

    /// Changes of the metrics since the last reading; `None` for the first.
    pub(crate) fn rates(&mut self, at_us: i64, values: Vec<Option<f64>>) -> Option<Vec<MetricRate>> {
        let last = self.last.take().filter(|(before_us, _)| *before_us < at_us);
        let rates = last.map(|(before_us, before)| {
            let seconds = (at_us - before_us) as f64 / 1e6;
            let rate = |(metric, (before, now)): (&Metric, (Option<f64>, &Option<f64>))| {
                let grew = before.zip(*now).map(|(before, now)| now - before).filter(|grew| *grew >= 0.0);
                MetricRate {
                    name: format!("{}/{}", self.name, metric.name),
                    unit: metric.unit.clone(),
                    kind: metric.kind,
                    value: if metric.kind == MetricKind::Gauge { *now } else { grew.map(|grew| grew / seconds) },
                }
            };
            self.metrics.iter().zip(before.into_iter().zip(&values)).map(rate).collect()
        });
        self.last = Some((at_us, values));
        rates
    }
}

impl WatchedSources {
    pub fn add_event(&mut self, event: Event) -> Option<WatchedSecond> {
        match event {
            Event::Source { source, metrics, phase } => {
                self.sources.push(Source::new(source, metrics, phase));
                None
            }
            Event::Sample { source, boundary, at_us, values, .. } => {
                let at = self.sources.iter().position(|known| known.name == source)?;
                let rates = self.sources[at].rates(at_us, values)?;
                let second = self.seconds.entry(boundary).or_default();
                second.push((at, rates));
                if second.len() < self.sources.len() {
                    return None;
                }
                let mut second = self.seconds.remove(&boundary)?;
                second.sort_by_key(|(at, _)| *at);
                Some(WatchedSecond {
                    number: boundary,
                    lines: second.into_iter().flat_map(|(_, rates)| rates).collect(),
                })
            }
            _ => None,
        }
    }
}

impl WatchedSecond {
    /// Its number, from 1, in units of the interval.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Growth per second of `counter`, of any source; `None` if unknown.
    pub(crate) fn rate(&self, counter: Counter) -> Option<f64> {
        self.find(counter).and_then(|line| line.value)
    }

    /// The source that counts `counter`.
    pub(crate) fn source_of(&self, counter: Counter) -> Option<&str> {
        self.find(counter)?.name.split('/').next()
    }

    fn find(&self, counter: Counter) -> Option<&MetricRate> {
        self.lines.iter().find(|line| line.name.rsplit('/').next() == Some(counter.name()))
    }

    /// Name and growth per second of the counters of `source` that are known.
    pub(crate) fn rates_of<'s>(&'s self, source: &'s str) -> impl Iterator<Item = (&'s str, f64)> {
        let of = move |line: &'s MetricRate| Some((line.name.strip_prefix(source)?.strip_prefix('/')?, line.value?));
        self.lines.iter().filter_map(of)
    }

    #[cfg(test)]
    pub(super) fn from_rates(number: u32, rates: &[(&str, Option<f64>)]) -> Self {
        let line = |(name, value): &(&str, Option<f64>)| MetricRate {
            name: (*name).to_owned(),
            unit: "1".to_owned(),
            kind: MetricKind::Counter,
            value: *value,
        };
        Self { number, lines: rates.iter().map(line).collect() }
    }

    /// The counters that moved, a line each.
    pub fn counters_text(&self, filter: &CounterFilter) -> String {
        let moved = |line: &&MetricRate| line.kind == MetricKind::Counter && line.value.is_some_and(|rate| rate > 0.0);
        let lines = self.shown(filter, moved);
        let wide = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
        let mut text = format!("second {}\n", self.number);
        for line in lines {
            let unit = if line.unit == "1" { String::new() } else { format!(" {}", escape(&line.unit)) };
            let rate = number(line.value.unwrap_or_default());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {:<wide$}  {rate:>14}{unit}/s", escape(&line.name));
        }
        text
    }

    /// All counters per second and all gauges in one line, with the plan file that was found automatically; unknown
    /// values are null.
    pub fn json_line(&self, filter: &CounterFilter, plan_file: Option<&str>) -> String {
        let of = |kind| -> serde_json::Map<String, serde_json::Value> {
            let lines = self.shown(filter, |line| line.kind == kind);
            lines.into_iter().map(|line| (line.name.clone(), line.value.into())).collect()
        };
        let (per_s, gauges) = (of(MetricKind::Counter), of(MetricKind::Gauge));
        let mut second = serde_json::json!({ "second": self.number, "per_s": per_s, "gauges": gauges });
        if let Some(path) = plan_file {
            second["plan_file"] = path.into();
        }
        format!("{second}\n")
    }

    fn shown(&self, filter: &CounterFilter, wanted: impl Fn(&&MetricRate) -> bool) -> Vec<&MetricRate> {
        let mut lines: Vec<&MetricRate> = self.lines.iter().filter(wanted).filter(|line| filter.shows(line)).collect();
        if let Some(top) = filter.top {
            let value = |line: &MetricRate| line.value.unwrap_or(0.0);
            lines.sort_by(|a, b| a.unit.cmp(&b.unit).then(value(b).total_cmp(&value(a))));
            let of_each_unit = lines.chunk_by(|a, b| a.unit == b.unit);
            return of_each_unit.flat_map(|same| &same[..top.min(same.len())]).copied().collect();
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(boundary: u32, values: &[Option<f64>]) -> Event {
        let at_us = i64::from(boundary) * 2_000_000;
        Event::Sample { source: "pg".to_owned(), boundary, at_us, cost_us: 1, values: values.to_vec() }
    }

    #[test]
    fn a_second_holds_rates_gauges_and_null_for_the_unknown() {
        let metrics = vec![
            Metric::counter("reads", "blocks", ""),
            Metric::gauge("memory", "bytes", ""),
            Metric::counter("restarted", "1", ""),
        ];
        let mut sources = WatchedSources::default();
        let reported = sources.add_event(Event::Source { source: "pg".to_owned(), metrics, phase: Phase::Boundary });
        assert!(reported.is_none());
        assert!(sources.add_event(sample(0, &[Some(10.0), Some(7.0), Some(9.0)])).is_none());
        let second = sources.add_event(sample(1, &[Some(50.0), Some(8.0), Some(1.0)])).unwrap();
        let json = second.json_line(&CounterFilter::default(), None);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["per_s"]["pg/reads"], 20.0);
        assert_eq!(json["gauges"]["pg/memory"], 8.0);
        assert!(json["per_s"]["pg/restarted"].is_null());
        assert_eq!(second.counters_text(&CounterFilter::default()), "second 1\n  pg/reads            20.0 blocks/s\n");
    }

    #[test]
    fn the_top_are_those_of_each_unit() {
        let line = |name: &str, unit: &str, value| {
            let (name, unit) = (name.to_owned(), unit.to_owned());
            MetricRate { name, unit, kind: MetricKind::Counter, value: Some(value) }
        };
        let lines = vec![
            line("waited", "us", 5e5),
            line("reads", "blocks", 10.0),
            line("slept", "us", 9e5),
            line("worked", "us", 7e5),
            line("writes", "blocks", 30.0),
            line("commits", "1", 2.0),
        ];
        let top = |top| {
            let text = WatchedSecond { number: 1, lines: lines.clone() }
                .counters_text(&CounterFilter { top: Some(top), only: Vec::new() });
            text.lines().skip(1).map(|l| l.split_whitespace().next().unwrap().to_owned()).collect::<Vec<String>>()
        };
        assert_eq!(top(1), ["commits", "writes", "slept"]);
        assert_eq!(top(2), ["commits", "writes", "reads", "slept", "worked"]);
    }
}
