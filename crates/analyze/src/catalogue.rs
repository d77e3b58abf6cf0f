//! The catalogue of figures: one row a figure, from which the CSV, `show --explain` and docs/metrics.md follow.

mod caps;
mod cpu;
mod device;
mod figure;
mod plan;
mod price;
mod reads;
mod volume;
mod waits;
mod work;
mod writes;

use mindful_core::workload::OpKind;

pub use cpu::{DB_CORES, DB_US_PER_LOGICAL_READ};
use figure::Shown;
pub use figure::{Column, Figure, Unit};
pub use price::OPERATIONS_PER_PRICE;
pub use reads::{
    BLOCKS_VISITED_PER_S, DEVICE_READS_PER_S, HIT_RATIO, LOGICAL_READS_PER_S, PHYSICAL_READS_PER_S,
    READ_LATENCY_MEAN_US,
};
pub use volume::READ_REQUESTS_PER_S;
pub use work::{MEAN_US, P50_US, P99_US};

/// All figures, section by section.
pub fn figures() -> impl Iterator<Item = &'static Figure> {
    let sections = [
        plan::FIGURES,
        work::FIGURES,
        reads::FIGURES,
        waits::FIGURES,
        device::FIGURES,
        caps::FIGURES,
        writes::FIGURES,
        cpu::FIGURES,
        volume::FIGURES,
        price::FIGURES,
    ];
    sections.into_iter().flatten()
}

/// The columns of the CSV in their order: those of one kind of operation stand together.
pub fn csv() -> Vec<Column> {
    let mut columns: Vec<Column> =
        figures().filter(|figure| figure.shown != Shown::Explained).flat_map(Figure::columns).collect();
    let (Some(first), Some(last)) =
        (columns.iter().position(|c| c.kind.is_some()), columns.iter().rposition(|c| c.kind.is_some()))
    else {
        return columns;
    };
    columns[first..=last].sort_by_key(|column| column.kind);
    columns
}

/// The figure of that name: a path of the summary, a title of the CSV, or the last part of either.
pub fn find(name: &str) -> Option<Column> {
    let all = || figures().flat_map(Figure::columns);
    let named = all().find(|column| column.path() == name || column.title() == name);
    let short = name.rsplit('.').next().unwrap_or(name);
    named.or_else(|| figures().find(|figure| figure.name() == short).map(|figure| Column { figure, kind: None }))
}

/// The table of docs/metrics.md.
pub fn markdown() -> String {
    let row = |column: Column| {
        let sources: Vec<_> = column.figure.sources.iter().map(|counter| format!("`{counter}`")).collect();
        let (unit, formula) = (column.figure.unit.symbol(), column.figure.formula.replace('|', "\\|"));
        format!("| `{}` | {unit} | {formula} | {} |\n", column.path(), sources.join(" "))
    };
    let of_kind = |column: &Column| column.kind.is_none_or(|kind| kind == OpKind::Select);
    let rows: String = figures().flat_map(Figure::columns).filter(of_kind).map(row).collect();
    format!("| figure | unit | formula | counters |\n|---|---|---|---|\n{rows}")
}
