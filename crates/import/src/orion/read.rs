//! A summary, or a matrix: rows are large loads, columns small ones.

use std::collections::BTreeMap;

use mindful_core::{Error, Result};

use crate::number;

/// What a matrix holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Small I/Os per second.
    Iops,
    /// Their latency, us.
    Latency,
    /// MB (2^20 bytes) per second of large I/Os.
    Mbps,
}

/// A figure and the load that gave it: I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// What it is.
    pub figure: Figure,
    /// Small I/Os in flight.
    pub small: u32,
    /// Large I/Os in flight.
    pub large: u32,
    /// The figure in its unit.
    pub value: f64,
}

/// What a file tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Read {
    /// All points.
    pub points: Vec<Point>,
    /// Lines of the summary that say how it was measured.
    pub facts: BTreeMap<String, String>,
    /// Version of Orion.
    pub version: Option<String>,
}

/// What `text` of the file `name` tells.
pub fn result(name: &str, text: &str) -> Result<Read> {
    let read = if is_matrix(text) { matrix(name, text)? } else { summary(text) };
    if read.points.is_empty() {
        return Err(Error::run(format!("{name} is of Orion and tells no figure"), "it was cut, or Orion was stopped"));
    }
    Ok(read)
}

/// Orion names its matrices by their ends.
fn figure_of(name: &str) -> Option<Figure> {
    let name = name.to_ascii_lowercase();
    let ends = [("iops.csv", Figure::Iops), ("lat.csv", Figure::Latency), ("mbps.csv", Figure::Mbps)];
    let bare = name.strip_suffix(".gz").unwrap_or(&name);
    ends.into_iter().find(|(end, _)| bare.ends_with(end)).map(|(_, figure)| figure)
}

fn matrix(name: &str, text: &str) -> Result<Read> {
    let figure = figure_of(name).ok_or_else(|| {
        Error::plan(
            format!("{name} is a matrix of Orion, and its name does not say of what"),
            "give it back its name: …_iops.csv, …_lat.csv or …_mbps.csv",
        )
    })?;
    let bad = |error: csv::Error| Error::run(format!("{name} is no matrix of Orion: {error}"), "look at that line");
    let mut reader =
        csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).has_headers(true).from_reader(text.as_bytes());
    let whole = |cell: &str| cell.parse::<u32>().ok();
    let columns: Vec<_> = reader.headers().map_err(bad)?.iter().map(whole).collect();
    let mut read = Read::default();
    for record in reader.records() {
        let record = record.map_err(bad)?;
        let Some(large) = record.get(0).and_then(whole) else { continue };
        for (small, cell) in columns.iter().zip(record.iter()).skip(1) {
            let value = number::count(cell).map(|printed| printed.value).filter(|value| *value > 0.0);
            if let Some((small, value)) = small.zip(value) {
                // Old versions tell latency in ms, with a point; new ones in us.
                let ms = figure == Figure::Latency && value < 1_000.0 && cell.contains('.');
                read.points.push(Point { figure, small, large, value: if ms { value * 1e3 } else { value } });
            }
        }
    }
    Ok(read)
}

fn summary(text: &str) -> Read {
    let mut read = Read::default();
    let mut last = "";
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(version) = line.strip_prefix("ORION VERSION") {
            read.version = Some(version.trim().to_owned());
        } else if let Some(point) = best(line) {
            read.points.push(point);
        } else if last == "Command line:" {
            read.facts.insert("command line".to_owned(), line.to_owned());
        } else if let Some((name, value)) = line.split_once(':').filter(|(_, value)| !value.trim().is_empty()) {
            read.facts.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        last = line;
    }
    read
}

/// `Maximum Small IOPS=2114 @ Small=24 and Large=0`.
fn best(line: &str) -> Option<Point> {
    let (name, rest) = line.split_once('=')?;
    let figure = match name.trim() {
        "Maximum Large MBPS" => Figure::Mbps,
        "Maximum Small IOPS" => Figure::Iops,
        "Minimum Small Latency" => Figure::Latency,
        _ => return None,
    };
    let (value, load) = rest.split_once('@')?;
    let (value, unit) = value.trim().split_once(' ').unwrap_or((value.trim(), ""));
    let value = number::count(value)?.value;
    let us = if figure == Figure::Latency && !unit.starts_with("us") { value * 1e3 } else { value };
    let after = |name: &str| {
        let rest = load.split_once(name)?.1;
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
    };
    Some(Point { figure, small: after("Small=")?, large: after("Large=")?, value: us })
}

/// Whether `head` begins a summary or a matrix.
pub fn recognises(head: &str) -> bool {
    is_matrix(head) || (head.contains("ORION VERSION") && head.contains("Command line:"))
}

/// Whether the first line is that of a matrix.
pub fn is_matrix(head: &str) -> bool {
    head.trim_start().starts_with("Large/Small")
}
