//! The files that scripts around Orion read: one matrix each of I/Os a second, latency and throughput, and histograms.
//!
//! Rows are large loads, columns small loads, an empty cell was not measured.

use std::collections::BTreeSet;
use std::fmt::Write;

use mindful_core::contract::file_read::InFlight;
use mindful_core::record::latency::Latency;

#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    pub per_s: f64,
    /// MiB (2^20 bytes) per second.
    pub mib_per_s: f64,
    pub mean_us: f64,
    pub latency: Latency,
}

impl Figures {
    /// The figures of `latency`, which contains every read of `bytes` bytes in `seconds`; `None` without reads.
    pub fn new(latency: Latency, bytes: u64, seconds: f64) -> Option<Self> {
        let mean_us = latency.mean_ns()? / 1e3;
        let per_s = latency.count() as f64 / seconds;
        Some(Self { per_s, mib_per_s: per_s * bytes as f64 / f64::from(1 << 20), mean_us, latency })
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct PointResult {
    pub point: InFlight,
    pub small: Option<Figures>,
    pub large: Option<Figures>,
}

type Content = fn(&[PointResult]) -> String;

/// The files by the ends of their names: I/Os a second and mean latency (us) of small reads, MiB/s of large ones.
pub const FILES: [(&str, Content); 4] = [
    ("_iops.csv", |results| csv(results, |r| Some(format!("{:.0}", r.small.as_ref()?.per_s)))),
    ("_lat.csv", |results| csv(results, |r| Some(format!("{:.2}", r.small.as_ref()?.mean_us)))),
    ("_mbps.csv", |results| csv(results, |r| Some(format!("{:.2}", r.large.as_ref()?.mib_per_s)))),
    ("_hist.csv", hist_csv),
];

fn csv(results: &[PointResult], cell: impl Fn(&PointResult) -> Option<String>) -> String {
    let columns: BTreeSet<u32> = results.iter().map(|r| r.point.small).collect();
    let rows: BTreeSet<u32> = results.iter().map(|r| r.point.large).collect();
    let mut text = "Large/Small".to_owned();
    for small in &columns {
        let _ = write!(text, ", {small}");
    }
    for large in rows {
        let _ = write!(text, "\n{large}");
        for small in &columns {
            let point = InFlight { small: *small, large };
            let value = results.iter().find(|r| r.point == point).and_then(&cell).unwrap_or_default();
            let _ = write!(text, ", {value}");
        }
    }
    text.push('\n');
    text
}

/// `hist.csv`: the number of reads by duration, a line for each point, kind and power of two of microseconds.
fn hist_csv(results: &[PointResult]) -> String {
    let mut text = "small,large,kind,from_us,below_us,count\n".to_owned();
    for result in results {
        let InFlight { small, large } = result.point;
        for (kind, figures) in [("small", &result.small), ("large", &result.large)] {
            let Some(figures) = figures else { continue };
            for (power, count) in powers(&figures.latency) {
                let (from, below) = if power == 0 { (0, 1) } else { (1_u64 << (power - 1), 1 << power) };
                let _ = writeln!(text, "{small},{large},{kind},{from},{below},{count}");
            }
        }
    }
    text
}

/// Counts by power of two: entry `p` contains latencies from half of `2^p` us to below `2^p` us.
fn powers(latency: &Latency) -> Vec<(u32, u64)> {
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for (ns, count) in latency.buckets.iter() {
        let power = u64::BITS - (ns / 1_000).leading_zeros();
        match counts.last_mut() {
            Some((last, sum)) if *last == power => *sum += count,
            _ => counts.push((power, count)),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(per_s: f64, us: u64) -> Option<Figures> {
        let latency =
            Latency { buckets: [(us * 1_000, 10)].into_iter().collect(), sum_ns: us * 10_000, max_ns: us * 1_000 };
        Figures::new(latency, 1 << 20, 10.0 / per_s)
    }

    fn results() -> Vec<PointResult> {
        vec![
            PointResult { point: InFlight { small: 1, large: 0 }, small: figures(100.0, 90), large: None },
            PointResult { point: InFlight { small: 2, large: 0 }, small: figures(180.0, 110), large: None },
            PointResult { point: InFlight { small: 0, large: 1 }, small: None, large: figures(50.0, 20_000) },
        ]
    }

    #[test]
    fn a_matrix_has_large_loads_down_and_small_loads_across() {
        let [iops, latency, mib, histograms] = FILES.map(|(_, content)| content(&results()));
        assert_eq!(iops, "Large/Small, 0, 1, 2\n0, , 100, 180\n1, , , \n");
        assert_eq!(latency, "Large/Small, 0, 1, 2\n0, , 90.00, 110.00\n1, , , \n");
        assert_eq!(mib, "Large/Small, 0, 1, 2\n0, , , \n1, 50.00, , \n");
        let counts = "1,0,small,64,128,10\n2,0,small,64,128,10\n0,1,large,16384,32768,10\n";
        assert_eq!(histograms, format!("small,large,kind,from_us,below_us,count\n{counts}"));
    }
}
