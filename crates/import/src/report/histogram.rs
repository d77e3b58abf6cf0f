//! Durations of waits: sections of shares in percent by buckets that each reach to twice the one before.
//!
//! Up to 12.1 the first section covers 1 ms to 1 s, later releases begin at 8 us. Sections of detail divide its longer
//! buckets for events with waits in them. A ms is printed as 1,000 or 1,024 us, depending on the release: it is read as
//! 1,000; a s is 1,024 of them, and a minute 64 such seconds.

use std::collections::BTreeMap;

use mindful_core::record::latency::Latency;
use mindful_oracle_terms as oracle;

use super::waited::Waited;
use crate::number::{self, Printed};
use crate::tables::Table;

/// Rounding error of the shares of a section together, percent.
const ROUNDED: f64 = 1.5;
/// Meaning of a share of `.0`: more than 0, and less than 0.05 percent.
const FAINT: f64 = 0.025;
const OPEN: u64 = u64::MAX;
const MS: f64 = 1e3;
const S: f64 = 1024.0 * MS;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Histogram {
    /// All waits, which are printed in thousands above 9,999; `None` if no section contains them.
    pub waits: Option<Printed>,
    /// Contents of each section: the same waits may be in a wide share and in narrow ones.
    pub(crate) shares: Vec<Share>,
    /// Whether a share did not fit its column: then the distribution is unknown.
    pub unreadable: bool,
    /// Sum of the shares of a section, percent, unless it is 100.
    pub sum: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    /// They took so long or longer, us.
    pub from_us: u64,
    /// They took less, us.
    pub to_us: u64,
    pub percent: f64,
}

/// Takes a section, if `table` is one; returns the number of its rows.
pub(crate) fn read(table: &Table, histograms: &mut BTreeMap<String, Histogram>) -> usize {
    let Some(event) = table.called("event") else { return 0 };
    let Some(buckets) = buckets(table).filter(|buckets| buckets.len() >= 4) else { return 0 };
    let waits = table.column(|name| matches!(name, "waits" | "total waits"));
    let mut found = 0;
    for row in table.rows.iter().filter(|row| !row[event].is_empty()) {
        let into = histograms.entry(oracle::whole(&row[event]).to_owned()).or_default();
        into.waits = into.waits.or_else(|| number::count(&row[waits?]));
        let share = |(column, from_us, to_us): &(usize, u64, u64)| {
            let percent = match row[*column].as_str() {
                "" => 0.0,
                text => number::count(text).map(|share| if share.value == 0.0 { FAINT } else { share.value })?,
            };
            Some(Share { from_us: *from_us, to_us: *to_us, percent })
        };
        match buckets.iter().map(share).collect::<Option<Vec<_>>>() {
            Some(shares) => {
                let sum: f64 = shares.iter().map(|share| share.percent).sum();
                into.sum = into.sum.or(Some(sum).filter(|sum| *sum > 0.0 && (sum - 100.0).abs() > ROUNDED));
                into.shares.extend(shares);
            }
            None => into.unreadable = true,
        }
        found += 1;
    }
    found
}

/// Columns and the bounds of their buckets, us; `None` if they do not rise.
fn buckets(table: &Table) -> Option<Vec<(usize, u64, u64)>> {
    let mut buckets = Vec::new();
    let mut from = 0;
    for (column, name) in table.columns.iter().enumerate() {
        let Some(at) = name.find(['<', '>']) else { continue };
        let to = if name[at..].starts_with('>') { OPEN } else { bound_us(name[at + 1..].trim_start_matches('='))? };
        if to <= from {
            return None;
        }
        buckets.push((column, from, to));
        from = to;
    }
    Some(buckets)
}

/// `1ms`, `1/8s`, `128u`, ` 1m`, `512`, which are us.
fn bound_us(text: &str) -> Option<u64> {
    let text: String = text.split_whitespace().collect();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (figure, unit) = text.split_at(end);
    let us = match unit {
        "" | "u" | "us" => 1.0,
        "ms" => MS,
        "s" => S,
        "m" => 64.0 * S,
        "h" => 64.0 * 64.0 * S,
        _ => return None,
    };
    let figure = match figure.split_once('/') {
        Some((part, whole)) => part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?,
        None => figure.parse().ok()?,
    };
    let us = figure * us;
    (1.0..1e15).contains(&us).then_some(us as u64)
}

impl Histogram {
    pub(crate) fn parts(&self) -> Vec<Share> {
        if self.unreadable {
            return Vec::new();
        }
        let mut wanted: Vec<Share> = self.shares.clone();
        wanted.sort_by_key(|share| share.to_us - share.from_us);
        let mut parts: Vec<Share> = Vec::new();
        for share in wanted {
            let divided = parts.iter().any(|part| part.from_us >= share.from_us && part.to_us <= share.to_us);
            if !divided {
                parts.push(share);
            }
        }
        parts.sort_by_key(|share| share.from_us);
        parts
    }

    /// The share of waits from `from_us` to below `to_us`, percent; `None` if the sections have other bounds.
    pub(crate) fn between(&self, from_us: u64, to_us: u64) -> Option<f64> {
        let parts = self.parts();
        let begins = from_us == 0 || parts.iter().any(|part| part.from_us == from_us);
        let ends = to_us == OPEN || parts.iter().any(|part| part.to_us == to_us || part.from_us == to_us);
        let inside = parts.iter().filter(|part| part.from_us >= from_us && part.to_us <= to_us);
        (begins && ends && !parts.is_empty()).then(|| inside.map(|part| part.percent).sum())
    }

    /// As a histogram of our own runs: each bucket by its middle, the longest by the end of its bucket. `waited` is the
    /// entry of the event in the lists of waits, which have more digits.
    pub(crate) fn latency(&self, waited: Option<Waited>) -> Option<Latency> {
        let parts: Vec<_> = self.parts().into_iter().filter(|part| part.percent > 0.0).collect();
        let percent: f64 = parts.iter().map(|part| part.percent).sum();
        let listed = waited.and_then(Waited::waits);
        let near = |printed: Printed| listed.filter(|waits| (waits - printed.value).abs() <= printed.half_step);
        let waits = self.waits.map(|printed| near(printed).unwrap_or(printed.value)).or(listed)?;
        let count = |part: &Share| (waits * part.percent / percent).round().max(1.0) as u64;
        let middle_ns = |part: &Share| match part.to_us {
            OPEN => part.from_us.saturating_mul(1_000),
            to_us => (part.from_us + to_us).saturating_mul(500),
        };
        let buckets: Vec<_> = parts.iter().map(|part| (middle_ns(part), count(part))).collect();
        let last = parts.last()?;
        let max_us = if last.to_us == OPEN { last.from_us } else { last.to_us };
        let sum_ns = match waited.and_then(Waited::mean_us) {
            Some(mean_us) => mean_us * waits * 1e3,
            None => buckets.iter().map(|(ns, count)| *ns as f64 * *count as f64).sum(),
        };
        (1.0..1e15).contains(&waits).then(|| Latency {
            buckets: buckets.into_iter().collect(),
            sum_ns: sum_ns as u64,
            max_ns: max_us.saturating_mul(1_000),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Report, Scope, of_tables};
    use crate::tables::text::tables;

    fn of(text: &str) -> Report {
        of_tables(tables(text), Scope::Instance)
    }

    fn shares(histogram: &Histogram) -> Vec<(u64, u64, f64)> {
        histogram.parts().into_iter().filter(|p| p.percent > 0.0).map(|p| (p.from_us, p.to_us, p.percent)).collect()
    }

    #[test]
    fn details_divide_the_long_buckets_of_old_releases() {
        let text = "\
Wait Event Histogram                         DB/Inst: A/a  Snaps: 37-38
                           Total
Event                      Waits  <1ms  <2ms  <4ms  <8ms <16ms <32ms  <=1s   >1s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read    35.9K   7.0    .0          .3   2.9  12.2  75.9   1.7
log file parallel write     6966 100.0
Wait Event Histogram Detail (64 msec to 2 sec)DB/Inst: A/a  Snaps: 37-3
                           64ms
Event                      to 2s <32ms <64ms <1/8s <1/4s <1/2s   <1s   <2s  >=2s
-------------------------- ----- ----- ----- ----- ----- ----- ----- ----- -----
db file sequential read    27.9K  22.4  15.1  18.9  21.8  14.4   5.7   1.7
          -------------------------------------------------------------
";
        let report = of(text);
        let reads = &report.histograms["db file sequential read"];
        assert_eq!(reads.waits.map(|waits| (waits.value, waits.half_step)), Some((35_900.0, 50.0)));
        let all = shares(reads);
        assert_eq!(all[..3], [(0, 1_000, 7.0), (1_000, 2_000, FAINT), (4_000, 8_000, 0.3)]);
        assert_eq!(all[5..8], [(32_000, 64_000, 15.1), (64_000, 128_000, 18.9), (128_000, 256_000, 21.8)]);
        assert_eq!(all.last(), Some(&(1_024_000, 2_048_000, 1.7)));
        assert!((reads.between(32_000, 1_024_000).unwrap() - 75.9).abs() < 0.05, "as the first section sums them up");
        assert_eq!(reads.between(0, 3_000), None);
        let time_us = Some(Printed { value: 6.6e9, half_step: 0.5e6 });
        let exact = Waited { waits: Some(Printed::exact(35_903.0)), time_us, mean_us: None };
        let latency = reads.latency(Some(exact)).unwrap();
        assert!(latency.count().abs_diff(35_903) < 15, "{}", latency.count());
        assert_eq!((latency.max_ns, latency.sum_ns), (2_048_000_000, 6_600_000_000_000));
        let writes = report.histograms["log file parallel write"].latency(None).unwrap();
        assert_eq!((writes.count(), writes.max_ns), (6_966, 1_000_000));
    }

    #[test]
    fn minutes_and_hours_are_bounds_too() {
        let bounds =
            [("1/8s", Some(128_000)), (" 1m", Some(65_536_000)), ("512", Some(512)), ("x", None), ("1/0s", None)];
        for (text, us) in bounds {
            assert_eq!(bound_us(text), us, "{text}");
        }
    }
}
