//! Records: a time stamp, the counted event, and cumulative counts by bucket.

use mindful_core::{Error, Result};

use crate::date;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Record {
    /// us of a clock that may restart each day.
    pub clock_us: Option<i64>,
    /// The instant, us since the epoch, where the record shows the date.
    pub at_us: Option<i64>,
    pub label: String,
    /// ns in the unit of the buckets.
    pub unit_ns: Option<u64>,
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
    pub(super) fn instances(&self) -> impl Iterator<Item = &[(u64, u64)]> {
        self.buckets.chunk_by(|(bucket, _), (next, _)| bucket < next)
    }
}

/// All whole records of `text`, which is in the file `name`, and the number of others.
///
/// # Errors
/// A record with more than [`MOST_INSTANCES`].
pub(super) fn records(name: &str, text: &str) -> Result<(Vec<Record>, u64)> {
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
