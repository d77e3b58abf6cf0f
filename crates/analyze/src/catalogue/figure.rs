//! A row of the catalogue: a figure with its unit, its formula, its counters and its value.

use mindful_core::contract::metric::Counter;
use mindful_core::result::OpSummary;
use mindful_core::workload::OpKind;

use crate::step::StepAnalysis;

pub(super) const GROWTH: &str =
    "growth of the counter from the first boundary of the window to its last, by the time between";

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A number of things.
    Count,
    /// Blocks of the target.
    Blocks,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Microseconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// Things per second.
    PerSecond,
    /// Blocks per second.
    BlocksPerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// MiB (2^20 bytes) per second.
    MibPerSecond,
    /// A share or ratio, 1 is all.
    Share,
    /// A share of 100.
    Percent,
    /// CPUs' worth of time.
    Cores,
    /// Things for one unit of the price's currency.
    PerCurrency,
}

impl Unit {
    /// As it is written beside a figure.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "1",
            Self::Blocks => "blocks",
            Self::Bytes => "bytes",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::PerSecond => "1/s",
            Self::BlocksPerSecond => "blocks/s",
            Self::BytesPerSecond => "bytes/s",
            Self::MibPerSecond => "MiB/s",
            Self::Share => "0 to 1",
            Self::Percent => "%",
            Self::Cores => "cores",
            Self::PerCurrency => "1/currency",
        }
    }
}

/// Where a figure is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// In the summary and in the CSV.
    Everywhere,
    /// In the CSV, made of what the summary holds.
    Csv,
    /// By `--explain` alone.
    Explained,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Value {
    Step(fn(&StepAnalysis) -> Option<f64>),
    /// The same figure of each kind of operation.
    Operation(fn(&OpSummary) -> Option<f64>),
}

/// A figure of a step.
#[derive(Debug)]
pub struct Figure {
    /// Its place in a step of the summary, such as `cpu.db_cores`; of an operation the last part.
    path: &'static str,
    /// The column's title where it is not made of the path.
    title: Option<&'static str>,
    /// What it is counted in.
    pub unit: Unit,
    /// How it is made.
    pub formula: &'static str,
    /// The counters it is made of.
    pub sources: &'static [Counter],
    value: Value,
    pub(super) shown: Shown,
}

impl Figure {
    pub(super) const fn of_step(
        path: &'static str,
        unit: Unit,
        formula: &'static str,
        sources: &'static [Counter],
        value: fn(&StepAnalysis) -> Option<f64>,
    ) -> Self {
        Self { path, title: None, unit, formula, sources, value: Value::Step(value), shown: Shown::Everywhere }
    }

    pub(super) const fn of_operation(
        path: &'static str,
        unit: Unit,
        formula: &'static str,
        value: fn(&OpSummary) -> Option<f64>,
    ) -> Self {
        Self {
            path,
            title: None,
            unit,
            formula,
            sources: &[],
            value: Value::Operation(value),
            shown: Shown::Everywhere,
        }
    }

    pub(super) const fn titled(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    pub(super) const fn beside_the_summary(mut self) -> Self {
        self.shown = Shown::Csv;
        self
    }

    pub(super) const fn explained_only(mut self) -> Self {
        self.shown = Shown::Explained;
        self
    }

    /// Its last name, such as `db_cores`.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// The figure of `step`; where each kind of operation has its own, of that which stands for the step. `None` where it
    /// is not known.
    pub fn of(&self, step: &StepAnalysis) -> Option<f64> {
        match self.value {
            Value::Step(value) => value(step),
            Value::Operation(value) => step.summary.ops.main().and_then(value),
        }
    }

    pub(super) fn columns(&'static self) -> Vec<Column> {
        match self.value {
            Value::Step(_) => vec![Column { figure: self, kind: None }],
            Value::Operation(_) => OpKind::ALL.map(|kind| Column { figure: self, kind: Some(kind) }).to_vec(),
        }
    }
}

/// A figure, of one kind of operation where each has its own.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its row of the catalogue.
    pub figure: &'static Figure,
    pub(super) kind: Option<OpKind>,
}

impl Column {
    /// Its place in a step of the summary: `cpu.db_cores`, `ops.select.p99_us`.
    pub fn path(&self) -> String {
        self.kind
            .map_or_else(|| self.figure.path.to_owned(), |kind| format!("ops.{}.{}", kind.name(), self.figure.path))
    }

    /// Its title in the CSV: `db_cores`, `select_p99_us`.
    pub fn title(&self) -> String {
        let path = self.figure.path.strip_prefix("cpu.").unwrap_or(self.figure.path);
        match (self.figure.title, self.kind) {
            (Some(title), _) => title.to_owned(),
            (None, Some(kind)) => format!("{}_{path}", kind.name()),
            (None, None) => path.replace('.', "_"),
        }
    }

    /// The figure of `step`; `None` where it is not known.
    pub fn of(&self, step: &StepAnalysis) -> Option<f64> {
        match (self.figure.value, self.kind) {
            (Value::Operation(value), Some(kind)) => step.summary.ops.get(kind).and_then(value),
            _ => self.figure.of(step),
        }
    }
}
