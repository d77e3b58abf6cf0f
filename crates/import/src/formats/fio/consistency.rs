//! Whether the figures of a load agree with each other.
//!
//! fio prints most figures twice: a total, its rate and the time of both; the mean of latencies with their minimum,
//! maximum and percentiles. Also, no load can keep more I/Os in flight than its limit.

use super::load::Load;
use super::read::{Latencies, Side};
use crate::number::{APART, CLOCKS_APART, Printed};

/// Rounding of latencies in fio's histograms, a share, with a margin.
const BUCKET: f64 = 0.05;
/// The longest latency that all versions have a bucket for, ns.
const LONGEST_NS: f64 = 1e10;

/// The contradictions, in words.
pub(super) fn contradictions(load: &Load<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for job in &load.jobs {
        for (way, side) in [("read", &job.read), ("write", &job.write), ("mixed", &job.mixed)] {
            let size = load.option_bytes(way).filter(|_| side.short_ios.is_none_or(|short| short == 0.0));
            let of_side = [rates(side), sizes(side, size), latencies(side)].concat();
            found.extend(of_side.into_iter().map(|words| format!("{way}: {words}")));
        }
    }
    found.extend(in_flight(load));
    found
}

/// Totals against rates and the time of both.
fn rates(side: &Side) -> Vec<String> {
    let Some(seconds) = side.runtime.filter(|ms| *ms > 0.0).map(|ms| Printed { value: ms / 1e3, half_step: 1e-3 })
    else {
        return Vec::new();
    };
    let rate = |rate: Option<f64>, half_step: f64| Some(Printed { value: rate?, half_step });
    // The totals are whole numbers: the time of a rate is exact to a ms.
    let by_rate = |rate: Printed| Printed {
        value: rate.value * seconds.value,
        half_step: 1.0 + rate.half_step * seconds.value + rate.value * seconds.half_step,
    };
    let bytes = side.bytes().map(Printed::exact);
    let pairs = [
        ("I/Os", side.total_ios.map(Printed::exact), rate(side.iops, 0.5)),
        ("bytes", bytes, rate(side.bw_bytes, 1.0)),
        ("bytes", bytes, rate(side.bw, 1.0).map(|kib| kib.scaled(1024.0))),
    ];
    let off = pairs.into_iter().filter_map(|(what, total, rate)| {
        let (total, by_rate) = Printed::contradiction(total, rate.map(by_rate), APART)?;
        Some(format!("{total:.0} {what}, {by_rate:.0} by their rate and {:.3} s", seconds.value))
    });
    off.collect()
}

/// Bytes against KiB, and by I/Os against the option.
fn sizes(side: &Side, option: Option<u64>) -> Vec<String> {
    let bytes = side.bytes().map(Printed::exact);
    let kib = side.io_kbytes.map(|kib| Printed { value: kib, half_step: 1.0 }.scaled(1024.0));
    let in_kib = Printed::contradiction(bytes, kib, APART);
    let in_kib = in_kib.map(|(bytes, kib)| format!("{bytes:.0} bytes, {kib:.0} in KiB"));
    let length = bytes.zip(side.total_ios).and_then(|(bytes, ios)| bytes.over(Printed::exact(ios)));
    let by_option = Printed::contradiction(length, option.map(|bytes| Printed::exact(bytes as f64)), CLOCKS_APART);
    let by_option = by_option.map(|(length, option)| format!("{length:.0} bytes an I/O, {option} by its options"));
    [in_kib, by_option].into_iter().flatten().collect()
}

fn latencies(side: &Side) -> Vec<String> {
    if side.ios().is_none_or(|ios| ios <= 0.0) {
        return Vec::new();
    }
    let named = [("clat", &side.clat_ns), ("lat", &side.lat_ns), ("clat", &side.clat), ("lat", &side.lat)];
    let printed = named.into_iter().filter_map(|(name, latencies)| Some((name, latencies.as_ref()?)));
    let mut found: Vec<_> = printed.flat_map(|(name, latencies)| of_latencies(name, latencies)).collect();
    found.extend(side.clat_ns.iter().flat_map(bins));
    for (before, part, whole) in [(&side.slat_ns, &side.clat_ns, &side.lat_ns), (&side.slat, &side.clat, &side.lat)] {
        let mean = |latencies: &Option<Latencies>| latencies.as_ref().and_then(|l| l.mean).filter(|mean| *mean > 0.0);
        let Some((part, whole)) = mean(part).zip(mean(whole)) else { continue };
        let before = mean(before);
        let sum = rounded(part + before.unwrap_or(0.0));
        // A synchronous engine has no submission, but time before it.
        if sum.exceeds(rounded(whole), BUCKET) || before.is_some() && sum.differs(rounded(whole), BUCKET) {
            found.push(format!("a mean slat and clat of {:.2}, a mean lat of {whole:.2}", sum.value));
        }
    }
    found
}

/// A latency, which may be rounded to whole us.
fn rounded(value: f64) -> Printed {
    Printed { value, half_step: 1.0 }
}

fn of_latencies(name: &str, latencies: &Latencies) -> Vec<String> {
    let mut found = Vec::new();
    let mut rising = |words: &str, low: Option<f64>, high: Option<f64>| {
        let pair = low.zip(high).filter(|(low, high)| rounded(*low).exceeds(rounded(*high), BUCKET));
        found.extend(pair.map(|(low, high)| format!("{name} {low:.2} {words} {high:.2}")));
    };
    let Some(mean) = latencies.mean.filter(|mean| *mean > 0.0) else { return found };
    rising("at least, a mean of", latencies.min, Some(mean));
    rising("on average, at most", Some(mean), latencies.max);
    let shares = latencies.percentile.iter().filter_map(|(share, value)| Some((share.parse::<f64>().ok()?, *value)));
    let mut shares: Vec<_> = shares.filter(|(share, _)| *share > 0.0).collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in shares.windows(2) {
        rising(&format!("at p{}, at p{}", pair[0].0, pair[1].0), Some(pair[0].1), Some(pair[1].1));
    }
    rising("at least, at the first percentile", latencies.min, shares.first().map(|(_, value)| *value));
    rising("at the last percentile, at most", shares.last().map(|(_, value)| *value), latencies.max);
    found
}

/// Compares counts of `json+` with the figures derived from them.
fn bins(latencies: &Latencies) -> Vec<String> {
    let counts = latencies.bins.iter().filter_map(|(ns, count)| Some((ns.parse::<f64>().ok()?, *count as f64)));
    let (count, sum) = counts.fold((0.0, 0.0), |(all, sum), (ns, count)| (all + count, sum + ns * count));
    let mean = latencies.mean.filter(|mean| *mean > 0.0);
    if mean.is_none() || count <= 0.0 || latencies.max.is_none_or(|max| max > LONGEST_NS) {
        return Vec::new();
    }
    let (timed, by_bins) = (latencies.count.filter(|timed| *timed > 0.0), sum / count);
    let timed = timed.filter(|timed| Printed { value: count, half_step: 1.0 }.differs(Printed::exact(*timed), APART));
    let mean = mean.filter(|mean| rounded(by_bins).differs(rounded(*mean), CLOCKS_APART));
    let timed = timed.map(|timed| format!("clat of {timed:.0} I/Os, {count:.0} in its bins"));
    timed.into_iter().chain(mean.map(|mean| format!("a mean clat of {mean:.2}, {by_bins:.2} by its bins"))).collect()
}

/// Compares I/Os in flight, by Little's law, with the limit of the load.
fn in_flight(load: &Load<'_>) -> Option<String> {
    let most = f64::from(load.in_flight()?);
    let sides = load.reads.iter().chain(&load.writes);
    let busy_us: f64 = sides.filter_map(|side| Some(side.ios()? * side.whole_latency_us()?)).sum();
    let held = busy_us / (load.runtime_ms()? * 1e3);
    let held = Printed { value: held, half_step: 0.01 };
    held.exceeds(Printed::exact(most), CLOCKS_APART)
        .then(|| format!("{:.2} I/Os in flight by rate and latency, at most {most:.0} by its options", held.value))
}
