//! Summaries and matrices. In a matrix, rows are large loads and columns small ones.
//!
//! The spelling of Orion's summary varies: `Commandline:` up to 11.1 and `Command line:` later, `Duration for each Data
//! Point` and `data point`, and latencies in ms without a unit up to 11.1, in us later. Its terminal output begins
//! differently and contains the same results.

use std::collections::BTreeMap;

use mindful_core::result::finding::Finding;
use mindful_core::{Error, Result};

use crate::input::too_many;
use crate::number::{self, APART, Printed};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Small I/Os per second.
    Iops,
    /// Mean of all small I/Os.
    Latency,
    /// Mean of small reads of a run with writes.
    ReadLatency,
    /// MB (2^20 bytes) per second of large I/Os.
    Mbps,
}

/// A figure and the load that gave it: I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub figure: Figure,
    pub small: u32,
    pub large: u32,
    pub value: Printed,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OrionPart {
    pub run: String,
    pub points: Vec<Point>,
    /// Lines of the summary about the measurement.
    pub facts: BTreeMap<String, String>,
    pub disks: Vec<String>,
    pub version: Option<String>,
    /// Share of writes among the I/Os; `None` if the file does not show it.
    pub writes: Option<f64>,
    /// The unit of latencies, us; `None` for a matrix, which does not name its unit.
    pub latency_unit_us: Option<f64>,
    pub damaged_lines: u64,
    /// Lines with figures that contradict each other, in words.
    pub contradictions: Vec<String>,
    pub findings: Vec<Finding>,
}

impl OrionPart {
    pub(crate) fn new(run: &str) -> Self {
        Self { run: run.to_owned(), latency_unit_us: Some(1.0), ..Self::default() }
    }
}

pub(super) const MS: f64 = 1e3;
pub(super) const US: f64 = 1.0;

/// Lines that begin a result: in a summary, and on a terminal.
const BEGINNINGS: [&str; 2] = ["ORION VERSION", "ORION: ORacle IO Numbers"];
const FIGURES: [&str; 5] = ["Maximum Large MBPS", "Maximum Small IOPS", "Minimum Small Latency", READS, WRITES];
const READS: &str = "Small Read Latency:";
const WRITES: &str = "Small Write Latency:";
/// Suffixes of Orion's file names, and their figures.
const ENDS: [(&str, Option<Figure>); 4] = [
    ("_iops.csv", Some(Figure::Iops)),
    ("_lat.csv", Some(Figure::Latency)),
    ("_mbps.csv", Some(Figure::Mbps)),
    ("_summary.txt", None),
];
/// Most lines of words above a matrix.
const MOST_WORDS: usize = 40;
const MOST_RESULTS: usize = 1_024;
const MOST_DISKS: usize = 64;
const MOST_FACTS: usize = 64;
/// Most points of a file: each takes Orion a minute.
const MOST_POINTS: usize = 4_096;

/// The unit of latencies without one: ms before 11.2, us since.
pub(super) fn unit_us_of_release(version: &str) -> f64 {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (11, 2) { MS } else { US }
}

pub(super) fn parts(name: &str, text: &str) -> Result<Vec<OrionPart>> {
    let parts = match matrix_at(text) {
        Some(at) => vec![matrix(name, &text[..at], &text[at..])?],
        None => summaries(name, text)?,
    };
    if parts.iter().all(|part| part.points.is_empty()) {
        return Err(Error::run(
            format!("{name} is a file of Orion without a result"),
            "it was cut, or Orion was stopped: give the summary of a complete run",
        ));
    }
    if parts.iter().map(|part| part.points.len()).sum::<usize>() > MOST_POINTS {
        return Err(too_many(name, MOST_POINTS, "results of Orion"));
    }
    Ok(parts)
}

/// The run that a file belongs to: all files of a run have its name, with different ends.
fn run_of(name: &str) -> (&str, Option<Figure>) {
    let bare = name.strip_suffix(".gz").unwrap_or(name);
    let lower = bare.to_ascii_lowercase();
    let found = ENDS.into_iter().find(|(end, _)| lower.ends_with(end));
    found.map_or((name, None), |(end, figure)| (&bare[..bare.len() - end.len()], figure))
}

/// Contents of the heading above a matrix, since 12.1: its figures, and the unit of latencies.
fn described(head: &str) -> (Option<Figure>, Option<f64>) {
    let head = head.to_ascii_lowercase();
    let figures = [("latenc", Figure::Latency), ("iops", Figure::Iops), ("mbps", Figure::Mbps)];
    let units = [("microsecond", 1.0), ("usec", 1.0), ("millisecond", MS), ("msec", MS)];
    let figure = figures.into_iter().find(|(word, _)| head.contains(word)).map(|(_, figure)| figure);
    (figure, units.into_iter().find(|(word, _)| head.contains(word)).map(|(_, unit)| unit))
}

fn matrix(name: &str, head: &str, text: &str) -> Result<OrionPart> {
    let (run, figure) = run_of(name);
    let (by_head, unit_us) = described(head);
    let figure = figure.or(by_head).ok_or_else(|| {
        Error::plan(
            format!("{name} is a matrix of Orion, but its name does not show of which figure"),
            "rename it as Orion did: ..._iops.csv, ..._lat.csv or ..._mbps.csv",
        )
    })?;
    let bad = |error: csv::Error| Error::run(format!("{name} is not a matrix of Orion: {error}"), "correct that line");
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).has_headers(true).from_reader(text.as_bytes());
    let whole = |cell: &str| cell.parse::<u32>().ok();
    let columns: Vec<_> = reader.headers().map_err(bad)?.iter().map(whole).collect();
    let mut part = OrionPart::new(run);
    part.latency_unit_us = if figure == Figure::Latency { unit_us } else { Some(1.0) };
    for record in reader.records() {
        let record = record.map_err(bad)?;
        // A row with decimal commas has more cells than columns.
        if record.iter().skip(columns.len()).any(|cell| !cell.is_empty()) {
            part.damaged_lines += 1;
            continue;
        }
        let mut cells = record.iter().zip(&columns);
        let is_load = cells.next().is_some_and(|(large, _)| whole(large).is_some());
        let is_figure = |(cell, column): (&str, &Option<u32>)| {
            cell.is_empty() || (column.is_some() && number::count(cell).is_some())
        };
        part.damaged_lines += u64::from(!is_load || !cells.all(is_figure));
        let Some(large) = record.get(0).and_then(whole) else { continue };
        for (small, cell) in columns.iter().zip(record.iter()).skip(1) {
            let value = number::count(cell).filter(|value| value.value > 0.0);
            part.points.extend(small.zip(value).map(|(small, value)| Point { figure, small, large, value }));
        }
    }
    Ok(part)
}

fn summaries(name: &str, text: &str) -> Result<Vec<OrionPart>> {
    let mut results: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        if begins_result(line) {
            results.push(Vec::new());
        }
        results.last_mut().into_iter().for_each(|result| result.push(line.trim()));
    }
    if results.len() > MOST_RESULTS {
        return Err(too_many(name, MOST_RESULTS, "results of Orion"));
    }
    let many = results.len() > 1;
    let run = |number: usize| if many { format!("{name}#{number}") } else { run_of(name).0.to_owned() };
    let parts = (1..).zip(&results).map(|(number, lines)| summary(&run(number), lines));
    Ok(parts.filter(|part| !part.points.is_empty()).collect())
}

fn summary(run: &str, lines: &[&str]) -> OrionPart {
    let mut part = OrionPart::new(run);
    let (mut last, mut wrote) = ("", false);
    for line in lines.iter().filter(|line| !line.is_empty()) {
        part.contradictions.extend(contradicting_mean(line));
        if let Some(version) = version(line) {
            part.version = Some(version.to_owned());
        } else if let Some(disk) = line.strip_prefix("Name:").and_then(|rest| rest.split_whitespace().next()) {
            if part.disks.len() < MOST_DISKS {
                part.disks.push(disk.to_owned());
            }
        } else if let Some(point) = best(line, part.version.as_deref()).or_else(|| mean_of(READS, line)) {
            part.points.push(point);
        } else if let Some(point) = mean_of(WRITES, line) {
            wrote = true;
            let name = format!("mean us of a write at {} small", point.small);
            add_fact(&mut part, &name, &point.value.value.to_string());
        } else if FIGURES.iter().any(|figure| line.starts_with(figure)) {
            part.damaged_lines += 1;
        } else if matches!(last, "Command line:" | "Commandline:") {
            add_fact(&mut part, "command line", line);
        } else if let Some((name, value)) = line.split_once(':').filter(|(_, value)| !value.trim().is_empty()) {
            add_fact(&mut part, name, value);
        }
        last = line;
    }
    set_writes(&mut part, wrote);
    part
}

/// Adds a setting of the run. Lines of histograms begin with a number.
fn add_fact(part: &mut OrionPart, name: &str, value: &str) {
    if part.facts.len() < MOST_FACTS && !name.starts_with(|c: char| c.is_ascii_digit()) {
        part.facts.insert(name.trim().to_owned(), value.trim().to_owned());
    }
}

/// Finds the share of writes in the options or by the timed I/Os. Without writes, means of reads are those of all I/Os.
fn set_writes(part: &mut OrionPart, wrote: bool) {
    let read = part.points.iter().any(|point| point.figure == Figure::ReadLatency);
    let option = part.facts.iter().find(|(name, _)| ["Writes", "Write"].contains(&name.as_str()));
    let share = option.and_then(|(_, value)| Some(number::count(value.strip_suffix('%')?)?.value / 100.0));
    part.writes = share.filter(|share| (0.0..=1.0).contains(share)).or(match (read, wrote) {
        (true, false) => Some(0.0),
        (false, true) => Some(1.0),
        _ => None,
    });
    if part.writes == Some(0.0) {
        let reads = part.points.iter_mut().filter(|point| point.figure == Figure::ReadLatency);
        reads.for_each(|point| point.figure = Figure::Latency);
    }
}

/// `ORION VERSION 11.1.0.7.0`, `ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417`.
fn version(line: &str) -> Option<&str> {
    let rest = line.strip_prefix(BEGINNINGS[0]).or_else(|| line.strip_prefix(BEGINNINGS[1]))?;
    let rest = &rest[rest.find(|c: char| c.is_ascii_digit())?..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.'))
}

/// Parses `Maximum Small IOPS=2114 @ Small=24 and Large=0`. A latency without a unit has the release's.
fn best(line: &str, version: Option<&str>) -> Option<Point> {
    let (name, rest) = line.split_once('=')?;
    let figure = match name.trim() {
        "Maximum Large MBPS" => Figure::Mbps,
        "Maximum Small IOPS" => Figure::Iops,
        "Minimum Small Latency" => Figure::Latency,
        _ => return None,
    };
    let (value, load) = rest.split_once('@')?;
    let value = match figure {
        Figure::Latency | Figure::ReadLatency => number::time_us(value, version.map(unit_us_of_release))?,
        Figure::Mbps | Figure::Iops => number::count(value)?,
    };
    point(figure, value, load)
}

/// `Small Read Latency: avg=169.594 us, min=128.415 us, … @ Small=10 and Large=0`: since 12.1 below each best figure.
fn mean_of(name: &str, line: &str) -> Option<Point> {
    let (figures, load) = line.strip_prefix(name)?.split_once('@')?;
    point(Figure::ReadLatency, latency_us(figures, "avg=")?, load)
}

fn latency_us(figures: &str, name: &str) -> Option<Printed> {
    let figure = figures.split(',').find_map(|figure| figure.trim().strip_prefix(name))?;
    number::time_us(figure, Some(1.0))
}

/// A mean that is not between the least and the most of its line.
fn contradicting_mean(line: &str) -> Option<String> {
    let (figures, _) = line.strip_prefix(READS).or_else(|| line.strip_prefix(WRITES))?.split_once('@')?;
    let figure = |name: &str| latency_us(figures, name);
    let (mean, least, most) = (figure("avg=")?, figure("min=")?, figure("max=")?);
    (least.exceeds(mean, APART) || mean.exceeds(most, APART))
        .then(|| format!("a mean of {:.2} us, of {:.2} to {:.2} us", mean.value, least.value, most.value))
}

fn point(figure: Figure, value: Printed, load: &str) -> Option<Point> {
    let after = |name: &str| {
        let rest = load.split_once(name)?.1;
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
    };
    Some(Point { figure, small: after("Small=")?, large: after("Large=")?, value })
}

fn begins_result(line: &str) -> bool {
    BEGINNINGS.iter().any(|begin| line.trim_start().starts_with(begin))
}

/// Whether `head` begins a summary or a matrix.
pub(super) fn recognises(head: &str) -> bool {
    matrix_at(head).is_some() || head.lines().any(begins_result)
}

/// Where the matrix of `text` begins; there may be words about it above.
fn matrix_at(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MOST_WORDS) {
        if line.trim_start_matches('\u{feff}').trim_start().starts_with("Large/Small") {
            return Some(at);
        }
        at += line.len();
    }
    None
}
