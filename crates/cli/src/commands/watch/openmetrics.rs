//! All counters, gauges and timed waits of `watch` as OpenMetrics text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_core::contract::metric::{Metric, MetricKind};
use mindful_core::record::latency::{Latency, Sampled};

/// Bounds of the buckets, us.
const BOUNDS_US: [u64; 19] = [
    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, 1_000_000,
    2_000_000, 5_000_000, 10_000_000,
];

/// What was timed of one source and kind since `watch` began.
#[derive(Debug, Default)]
struct Timed {
    /// By bound, each with what lies below the one before.
    buckets: [u64; BOUNDS_US.len()],
    count: u64,
    sum_ns: u64,
    /// One of so many was timed.
    one_of: u64,
}

/// All that was timed.
#[derive(Debug, Default)]
pub struct Histograms(BTreeMap<(String, String), Timed>);

impl Histograms {
    /// Adds what `source` timed.
    pub fn add(&mut self, source: &str, sampled: &Sampled) {
        for (kind, latency) in &sampled.kinds {
            let timed = self.0.entry((source.to_owned(), kind.clone())).or_default();
            timed.one_of = sampled.one_of;
            timed.add(latency);
        }
    }
}

impl Timed {
    fn add(&mut self, latency: &Latency) {
        for (ns, count) in &latency.buckets {
            for (bucket, _) in self.buckets.iter_mut().zip(BOUNDS_US).filter(|(_, bound)| ns <= bound * 1_000) {
                *bucket = bucket.saturating_add(count);
            }
        }
        self.count = self.count.saturating_add(latency.count());
        self.sum_ns = self.sum_ns.saturating_add(latency.sum_ns);
    }
}

/// The text: what stands in `sources`, each with its metrics and latest values, and what was timed.
pub fn text<'a>(
    sources: impl Iterator<Item = (&'a str, &'a [Metric], &'a [Option<f64>])>,
    timed: &Histograms,
) -> String {
    let (mut counters, mut gauges) = (String::new(), String::new());
    for (source, metrics, values) in sources {
        let known = metrics.iter().zip(values).filter_map(|(metric, value)| Some((metric, (*value)?)));
        for (metric, value) in known.filter(|(_, value)| value.is_finite()) {
            let labels = [("source", source), ("name", &metric.name), ("unit", &metric.unit)];
            // Writing to a string cannot fail.
            let _ = match metric.kind {
                MetricKind::Counter => writeln!(counters, "mindful_counter_total{} {value}", of(&labels)),
                MetricKind::Gauge => writeln!(gauges, "mindful_gauge{} {value}", of(&labels)),
            };
        }
    }
    format!(
        "# TYPE mindful_counter counter\n# HELP mindful_counter Counters of the database and its host, in their unit.\n{counters}\
         # TYPE mindful_gauge gauge\n# HELP mindful_gauge Gauges of the database and its host, in their unit.\n{gauges}\
         # TYPE mindful_latency_seconds histogram\n# UNIT mindful_latency_seconds seconds\n\
         # HELP mindful_latency_seconds Requests and waits that were timed, one of so many as the label says.\n{}# EOF\n",
        histograms(timed)
    )
}

fn histograms(timed: &Histograms) -> String {
    let mut text = String::new();
    for ((source, kind), timed) in &timed.0 {
        let one_of = timed.one_of.to_string();
        let labels = [("source", source.as_str()), ("kind", kind.as_str()), ("one_of", one_of.as_str())];
        for (bound, count) in BOUNDS_US.iter().zip(timed.buckets) {
            let bound = format!("{:?}", *bound as f64 / 1e6);
            let labels = of(&[labels[0], labels[1], labels[2], ("le", &bound)]);
            let _ = writeln!(text, "mindful_latency_seconds_bucket{labels} {count}");
        }
        let all = of(&[labels[0], labels[1], labels[2], ("le", "+Inf")]);
        let _ = writeln!(text, "mindful_latency_seconds_bucket{all} {}", timed.count);
        let _ = writeln!(text, "mindful_latency_seconds_count{} {}", of(&labels), timed.count);
        let _ = writeln!(text, "mindful_latency_seconds_sum{} {}", of(&labels), timed.sum_ns as f64 / 1e9);
    }
    text
}

fn of(labels: &[(&str, &str)]) -> String {
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    format!("{{{}}}", labels.join(","))
}

#[cfg(test)]
mod tests {
    use mindful_core::record::latency::Recorder;

    use super::*;

    #[test]
    fn buckets_rise_to_the_count_and_names_stay_in_their_labels() {
        let mut recorder = Recorder::new();
        recorder.record_many(15_000, 3);
        recorder.record_many(3_000_000, 2);
        recorder.record_many(60_000_000_000, 1);
        let mut timed = Histograms::default();
        let sampled = Sampled { one_of: 16, kinds: [("read".to_owned(), recorder.take())].into() };
        timed.add("device", &sampled);
        let metrics = [Metric::counter("a\"} 1\nx", "1", ""), Metric::gauge("unknown", "bytes", "")];
        let text = text([("s", &metrics[..], &[Some(2.0), None][..])].into_iter(), &timed);
        let bucket = |le: &str| {
            let line = text.lines().find(|line| line.contains("_bucket{") && line.contains(&format!("le=\"{le}\"")));
            line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok())
        };
        let seen = ["1e-5", "2e-5", "0.002", "0.005", "10.0", "+Inf"].map(bucket);
        assert_eq!(seen, [Some(0), Some(3), Some(3), Some(5), Some(5), Some(6)], "{text}");
        assert!(text.contains("mindful_counter_total{source=\"s\",name=\"a\\\"} 1\\nx\",unit=\"1\"} 2\n"), "{text}");
        assert!(!text.contains("unknown") && text.ends_with("# EOF\n"), "{text}");
    }
}
