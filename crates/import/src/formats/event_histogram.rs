//! Records of v$event_histogram over time, as PyLatencyMap takes and prints them: a time stamp, the counted event, and
//! cumulative counts by bucket. Each label becomes a step, with a slice from each record to the next.

use std::collections::BTreeMap;

use mindful_core::plan::units::format_counted;
use mindful_core::record::latency::Latency;
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};

use super::format::Format;
use crate::number::{CLOCKS_APART, Printed};
use crate::old_step::OldStep;
use crate::{date, input};

/// Buckets, cumulative counts and time stamps.
pub(super) static EVENT_HISTOGRAM: Format = Format {
    what: "event histogram records",
    // By the mark that begins a record.
    recognises: |head| head.lines().any(|line| line.trim() == "<begin record>") && head.contains("latencyunit"),
    read: |name, input| {
        let (records, damaged) = records(name, &input::text(name, input)?)?;
        let mut steps = steps(name, &records)?;
        steps[0].add_damage(damaged, "record");
        Ok(steps)
    },
};

#[derive(Default)]
struct Record {
    /// us of a clock that may restart each day.
    clock_us: Option<i64>,
    /// The instant, us since the epoch, where the record shows the date.
    at_us: Option<i64>,
    label: String,
    /// ns in the unit of the buckets.
    unit_ns: Option<u64>,
    /// `(upper bound of a bucket, cumulative count)` of all instances, unchanged.
    buckets: Vec<(u64, u64)>,
    /// Whether a count cannot be read, such as one that did not fit its column.
    unreadable: bool,
}

/// More waits than any instance can have.
const MOST: u64 = 1 << 48;
/// More instances than any cluster has: each is compared with each of the record before.
const MOST_INSTANCES: usize = 128;

impl Record {
    /// The buckets of each instance, rising: where they begin again, the next one does. Instances come in any order.
    fn instances(&self) -> impl Iterator<Item = &[(u64, u64)]> {
        self.buckets.chunk_by(|(bucket, _), (next, _)| bucket < next)
    }
}

/// All whole records of `text`, which is in the file `name`, and the number of others.
fn records(name: &str, text: &str) -> Result<(Vec<Record>, u64)> {
    let (mut records, mut damaged) = (Vec::new(), 0);
    let mut open: Option<Record> = None;
    for line in text.lines().map(str::trim) {
        match (line, &mut open) {
            ("<begin record>", _) => damaged += u64::from(open.replace(Record::default()).is_some()),
            ("<end record>", Some(record)) if record.instances().nth(MOST_INSTANCES).is_some() => {
                return Err(Error::run(
                    format!("record {} of {name} is of more than {MOST_INSTANCES} instances", records.len() + 1),
                    "no database has that many: record them again",
                ));
            }
            // Counts are cumulative: the next readable record contains those of this one.
            ("<end record>", Some(record)) if record.unreadable => {
                damaged += 1;
                open = None;
            }
            ("<end record>", Some(_)) => records.extend(open.take()),
            (line, Some(record)) => field(line, record),
            _ => {}
        }
    }
    Ok((records, damaged + u64::from(open.is_some())))
}

fn field(line: &str, record: &mut Record) {
    let Some((name, rest)) = line.split_once(',') else { return };
    let rest = rest.trim();
    match name.trim() {
        "timestamp" => {
            let mut parts = rest.splitn(3, ',');
            let unit = parts.next().unwrap_or_default().trim();
            let clock = parts.next().and_then(|clock| clock.trim().parse::<i64>().ok());
            record.clock_us = clock.filter(|_| unit == "microsec");
            record.at_us = parts.next().and_then(instant_us);
            record.unreadable |= record.clock_us.is_none() && record.at_us.is_none();
        }
        "label" => rest.clone_into(&mut record.label),
        "latencyunit" => {
            record.unit_ns = match rest {
                "millisec" => Some(1_000_000),
                "microsec" => Some(1_000),
                _ => None,
            }
        }
        bucket => {
            let Ok(bucket) = bucket.parse::<u64>() else {
                record.unreadable |= bucket.starts_with(|c: char| c.is_ascii_digit());
                return;
            };
            match rest.parse::<u64>().ok().filter(|count| *count < MOST) {
                Some(count) => record.buckets.push((bucket, count)),
                None => record.unreadable = true,
            }
        }
    }
}

/// `26-AUG-13 04.26.51.653754 PM +02:00`.
fn instant_us(text: &str) -> Option<i64> {
    let mut words = text.split_whitespace();
    let (day, time) = (words.next()?, words.next()?);
    let last = words.next_back().filter(|last| last.starts_with(['+', '-']));
    let offset_s = last.and_then(seconds_east).unwrap_or(0);
    let pm = text.contains(" PM");
    let mut parts = time.split(['.', ':', ',']);
    let mut part = || parts.next()?.parse::<i64>().ok();
    let (hour, minute, second) = (part()?, part()?, part()?);
    let hour = if pm || text.contains(" AM") { hour % 12 + if pm { 12 } else { 0 } } else { hour };
    let us = format!("{:0<6}", parts.next().unwrap_or("0")).get(..6)?.parse::<i64>().ok()?;
    let s = date::day_s(day)? + date::clock_s(hour, minute, second)? - i64::from(offset_s);
    Some(s * 1_000_000 + us)
}

fn seconds_east(text: &str) -> Option<i32> {
    let (hours, minutes) = text[1..].split_once(':')?;
    let seconds =
        hours.parse::<i32>().ok()?.checked_mul(3600)?.checked_add(minutes.parse::<i32>().ok()?.checked_mul(60)?)?;
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

/// us in a day: the clock of a record may restart.
const DAY_US: i64 = 86_400_000_000;
const SECOND_US: i64 = 1_000_000;

/// More labels than there are wait events: each becomes a step.
const MOST_LABELS: usize = 4_096;

fn steps(name: &str, records: &[Record]) -> Result<Vec<OldStep>> {
    let mut by_label: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records {
        by_label.entry(&record.label).or_default().push(record);
    }
    if by_label.len() > MOST_LABELS {
        return Err(Error::run(
            format!("{name} has {} labels, and there are not {MOST_LABELS} wait events", by_label.len()),
            "record them again",
        ));
    }
    let steps: Vec<_> = by_label.iter().filter_map(|(label, records)| of_label(name, label, records)).collect();
    if steps.is_empty() {
        return Err(Error::run(
            format!(
                "{name} contains {} complete records, and no two of one label with time between them",
                records.len()
            ),
            "take at least two records: counts are cumulative, and a step lies between two of them",
        ));
    }
    Ok(steps)
}

fn of_label(name: &str, label: &str, records: &[&Record]) -> Option<OldStep> {
    let begin = records.first()?.at_us.or(records.first()?.clock_us)?;
    let mut boundaries = vec![begin];
    let mut slices = Vec::new();
    let mut fell = 0;
    let contradictions = records.windows(2).filter_map(|pair| contradiction(pair[0], pair[1])).collect();
    for pair in records.windows(2) {
        let last = *boundaries.last()?;
        let Some(end) = passed_us(pair[0], pair[1]).and_then(|us| last.checked_add(us)) else { continue };
        let index = boundaries.len() - 1;
        boundaries.push(end);
        match grew(pair[0], pair[1]) {
            Some(latency) => slices.push((index, latency)),
            None => fell += 1,
        }
    }
    if boundaries.len() < 2 {
        return None;
    }
    let mut step = OldStep::of_oracle(name, "event histogram records", format!("oracle: {label}"));
    step.began_us = records[0].at_us;
    step.set_boundaries(boundaries);
    for (index, latency) in slices {
        let count = latency.count();
        step.add_slice(index, OpKind::Select, latency, count);
    }
    step.add_contradictions(contradictions);
    let text = "Latencies are counted in buckets, each up to twice as long as the one before. Percentiles and means are made of \
                the middles of buckets, and the longest wait is the end of the last one.";
    step.add_finding(codes::IMPORTED_FIGURES, text, label);
    if fell > 0 {
        let text =
            "Counts fell from one record to the next: the instance was restarted. The waits between are not known.";
        step.add_finding(codes::IMPORTED_DOUBT, text, format_counted(fell, "time"));
    }
    Some(step)
}

fn by_date_us(a: &Record, b: &Record) -> Option<i64> {
    a.at_us.zip(b.at_us).and_then(|(a, b)| b.checked_sub(a)).filter(|us| *us > 0)
}

fn by_clock_us(a: &Record, b: &Record) -> Option<i64> {
    let us = b.clock_us?.checked_sub(a.clock_us?)?;
    Some(if us < 0 { us + DAY_US } else { us }).filter(|us| *us > 0)
}

/// Time from one record to the next, us; `None` without progress. The clock has more digits than dates in whole
/// seconds, and dates have the days.
fn passed_us(a: &Record, b: &Record) -> Option<i64> {
    let (date, clock) = (by_date_us(a, b), by_clock_us(a, b));
    let more = date.zip(clock).map(|(date, clock)| clock - date % DAY_US).filter(|more| more.abs() <= SECOND_US);
    date.map(|date| date + more.unwrap_or(0)).or(clock)
}

/// The date and the clock, if they differ in the elapsed time. The clock has no days.
fn contradiction(a: &Record, b: &Record) -> Option<String> {
    let printed = |us: i64| Printed { value: us as f64 / 1e6, half_step: 1.0 };
    let date = by_date_us(a, b).map(|us| printed(us % DAY_US));
    let (date, clock) = Printed::contradiction(date, by_clock_us(a, b).map(printed), CLOCKS_APART)?;
    Some(format!("{date:.1} s between two records by their dates, {clock:.1} s by their clock"))
}

/// The growth of each bucket; `None` if one fell.
fn rise(before: &[(u64, u64)], after: &[(u64, u64)]) -> Option<Vec<(u64, u64)>> {
    let mut before = before.iter().peekable();
    let of = |(bucket, count): &(u64, u64)| {
        let began = before.next_if(|(known, _)| known == bucket).map_or(0, |(_, count)| *count);
        Some((*bucket, count.checked_sub(began)?))
    };
    let rise = after.iter().map(of).collect();
    // Both are ascending: a remaining bucket of the earlier record is missing in the later one.
    if before.next().is_some() { None } else { rise }
}

fn total(rise: &[(u64, u64)]) -> u64 {
    rise.iter().fold(0, |sum, (_, grew)| sum.saturating_add(*grew))
}

/// Waits from one record to the next; `None` if a count fell.
fn grew(a: &Record, b: &Record) -> Option<Latency> {
    let unit_ns = b.unit_ns?;
    let mut by_bucket = BTreeMap::<u64, u64>::new();
    let mut before: Vec<&[(u64, u64)]> = a.instances().collect();
    for instance in b.instances() {
        // An instance is matched with the earlier one that fits and has the smallest growth.
        let fits = before.iter().enumerate().filter_map(|(i, before)| Some((total(&rise(before, instance)?), i)));
        let (_, place) = fits.min()?;
        for (bucket, grew) in rise(before.swap_remove(place), instance)? {
            let sum = by_bucket.entry(bucket).or_default();
            *sum = sum.saturating_add(grew);
        }
    }
    by_bucket.retain(|_, count| *count > 0);
    // From half the bound to the bound; the first begins at nothing.
    let middle = |bound: u64| {
        let quarters = if bound == 1 { 2 } else { 3 };
        (bound.saturating_mul(unit_ns) / 4).saturating_mul(quarters)
    };
    let buckets: Vec<_> = by_bucket.iter().map(|(bound, count)| (middle(*bound), *count)).collect();
    let sum_ns = buckets.iter().fold(0_u64, |sum, (ns, count)| sum.saturating_add(ns.saturating_mul(*count)));
    let max_ns = by_bucket.keys().last().map_or(0, |bound| bound.saturating_mul(unit_ns));
    Some(Latency { buckets: buckets.into_iter().collect(), sum_ns, max_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_stamp_is_an_instant() {
        assert_eq!(instant_us("26-AUG-13 04.26.51.653754 PM +02:00"), Some(1_377_527_211_653_754));
        assert_eq!(instant_us("26-Août-13 16:26:51,653754 +02:00"), Some(1_377_527_211_653_754));
        assert_eq!(instant_us("26-AUG-13 14.26.51 +00:00"), Some(1_377_527_211_000_000));
        assert_eq!(instant_us("yesterday"), None);
    }
}
