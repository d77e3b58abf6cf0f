//! Latency over time, counted twice on one grid: the number of operations by duration and time, and the session time
//! spent in them. This follows the frequency and intensity heat maps of L. Canali: a slow band that is too rare to be
//! visible in the first dominates the second.

use std::ops::Range;

use mindful_core::record::latency::{LONGEST_NS, Latency, WAIT_HISTOGRAM};
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

use crate::figures::window::Window;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fineness {
    pub columns: usize,
    /// Bands of latency in a factor of ten, equally wide by ratio: edges fall on 1, 10, 100.
    pub bands_a_decade: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heat {
    Frequency,
    /// The time that sessions spent in them.
    Intensity,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    pub ops: u64,
    /// Their time, ns; known within 1 %.
    pub ns: u64,
}

/// One kind of operation in the measured window of a step. An operation is in the column in which it began.
///
/// Its size is bounded by its fineness, however long the run and however many its sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    /// Boundaries of the columns, s since the window began; one more than there are columns.
    pub boundaries_s: Vec<f64>,
    /// Boundaries of the bands, ns, rising; one more than there are bands.
    pub edges_ns: Vec<f64>,
    /// Columns in turn, each with a cell a band.
    cells: Vec<Cell>,
}

impl HeatMap {
    /// The latencies of `kind` from which percentiles are computed: of slices that lie mostly in `window`, response
    /// times if there are any. `None` without operations of the kind.
    pub fn from_step(step: &StepRecord, window: &Window, kind: OpKind, fineness: Fineness) -> Option<Self> {
        let inside = step.reports().filter(|slice| window.share_of(slice, step) >= 0.5);
        let latencies = inside.map(|slice| {
            let op = slice.op(kind);
            (slice.index, op.response.as_ref().unwrap_or(&op.latency))
        });
        Self::over(step, window, latencies, fineness)
    }

    /// Waits of `kind` that the database counted; `None` without any.
    pub fn from_waits(step: &StepRecord, window: &Window, kind: &str, fineness: Fineness) -> Option<Self> {
        let counted = step.latencies.iter().filter(|(source, boundary, _)| source == WAIT_HISTOGRAM && *boundary > 0);
        let latencies = counted.filter_map(|(_, boundary, sampled)| Some((boundary - 1, sampled.kinds.get(kind)?)));
        Self::over(step, window, latencies, fineness)
    }

    fn over<'a>(
        step: &StepRecord,
        window: &Window,
        latencies: impl Iterator<Item = (u32, &'a Latency)>,
        fineness: Fineness,
    ) -> Option<Self> {
        let slices = slices(step, window)?;
        let slices_a_column = slices.len().div_ceil(fineness.columns.max(1));
        let bands = band(LONGEST_NS, fineness) + 1;
        let mut cells = vec![Cell::default(); slices.len().div_ceil(slices_a_column) * bands];
        for (index, latency) in latencies.filter(|(index, _)| slices.contains(index)) {
            let column = (index - slices.start) as usize / slices_a_column;
            add(&mut cells[column * bands..(column + 1) * bands], latency, fineness);
        }
        let seen = trimmed(&cells, bands, fineness)?;
        let since_begin_s = |boundary: u32| {
            let us = step.boundaries_us[boundary as usize].clamp(window.begin_us, window.end_us);
            us.saturating_sub(window.begin_us) as f64 / 1e6
        };
        Some(Self {
            boundaries_s: slices.clone().step_by(slices_a_column).chain([slices.end]).map(since_begin_s).collect(),
            edges_ns: (seen.start..=seen.end).map(|band| edge_ns(band, fineness)).collect(),
            cells: cells.chunks(bands).flat_map(|column| column[seen.clone()].iter().copied()).collect(),
        })
    }

    pub fn columns(&self) -> usize {
        self.boundaries_s.len() - 1
    }

    pub fn bands(&self) -> usize {
        self.edges_ns.len() - 1
    }

    pub fn cell(&self, column: usize, band: usize) -> Cell {
        self.cells[column * self.bands() + band]
    }

    /// Value of a cell: operations per second, or seconds of session time per second, the average number of sessions at
    /// work in them.
    pub fn per_s(&self, heat: Heat, column: usize, band: usize) -> f64 {
        let seconds = self.boundaries_s[column + 1] - self.boundaries_s[column];
        self.cell(column, band).value(heat) / seconds
    }

    pub fn peak_per_s(&self, heat: Heat) -> f64 {
        let cells = (0..self.columns()).flat_map(|column| (0..self.bands()).map(move |band| (column, band)));
        cells.map(|(column, band)| self.per_s(heat, column, band)).fold(0.0, f64::max)
    }

    /// The share of each band in all operations, or in all their time.
    pub fn shares(&self, heat: Heat) -> Vec<f64> {
        let of_band = |band| (0..self.columns()).map(|column| self.cell(column, band).value(heat)).sum::<f64>();
        let sums: Vec<f64> = (0..self.bands()).map(of_band).collect();
        let all: f64 = sums.iter().sum();
        sums.iter().map(|sum| sum / all).collect()
    }
}

impl Cell {
    /// Operations, or seconds spent in them.
    fn value(self, heat: Heat) -> f64 {
        match heat {
            Heat::Frequency => self.ops as f64,
            Heat::Intensity => self.ns as f64 / 1e9,
        }
    }
}

/// The indexes of slices that overlap `window`; `None` without any.
fn slices(step: &StepRecord, window: &Window) -> Option<Range<u32>> {
    let starts_before_end = step.boundaries_us.iter().take_while(|us| **us < window.end_us).count();
    let first = step.boundaries_us.iter().position(|us| *us > window.begin_us)?.saturating_sub(1);
    let last = starts_before_end.min(step.boundaries_us.len() - 1);
    (first < last).then_some(first as u32..last as u32)
}

fn add(cells: &mut [Cell], latency: &Latency, fineness: Fineness) {
    for (ns, count) in latency.buckets.iter() {
        let cell = &mut cells[band(ns, fineness)];
        cell.ops = cell.ops.saturating_add(count);
        cell.ns = cell.ns.saturating_add(ns.saturating_mul(count));
    }
}

/// The band that `ns` lies in, counted from 1 ns.
fn band(ns: u64, fineness: Fineness) -> usize {
    let decades = (ns.clamp(1, LONGEST_NS) as f64).log10();
    (decades * fineness.bands_a_decade as f64) as usize
}

fn edge_ns(band: usize, fineness: Fineness) -> f64 {
    10_f64.powf(band as f64 / fineness.bands_a_decade as f64)
}

/// The bands that occur; `None` without any. They are widened evenly to a decade, so that a narrow hump is recognizable.
fn trimmed(cells: &[Cell], bands: usize, fineness: Fineness) -> Option<Range<usize>> {
    let occurs = |band: &usize| cells.iter().skip(*band).step_by(bands).any(|cell| cell.ops > 0);
    let (first, last) = ((0..bands).find(occurs)?, (0..bands).rfind(occurs)?);
    let missing = fineness.bands_a_decade.saturating_sub(last + 1 - first);
    Some(first.saturating_sub(missing / 2)..(last + 1 + missing.div_ceil(2)).min(bands))
}
