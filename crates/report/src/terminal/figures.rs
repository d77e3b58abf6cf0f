//! The figures of a step: operations, the ledger, CPU.

use mindful_analyze::StepAnalysis;
use mindful_analyze::headline::CACHED_YIELD;
use mindful_analyze::ledger::Row;
use mindful_core::result::OpSummary;

use super::Page;
use crate::figure::{maybe, mib, number, percent, whole};
use crate::table::Side::{Left, Right};
use crate::table::Table;

/// Operations and their latencies.
pub fn operations(page: &mut Page, step: &StepAnalysis) {
    let ops = &step.summary.ops;
    let kinds = [("select", &ops.select), ("update", &ops.update), ("scan", &ops.scan)];
    let mut table = Table::new(&[
        ("operation", Left),
        ("count", Right),
        ("per s", Right),
        ("mean us", Right),
        ("p50 us", Right),
        ("p95 us", Right),
        ("p99 us", Right),
        ("p99.9 us", Right),
        ("max us", Right),
    ]);
    for (name, op) in kinds {
        if let Some(op) = op {
            table.row(operation(name, op));
        }
    }
    if !table.is_empty() {
        page.blank();
        page.table(&table);
    }
}

fn operation(name: &str, op: &OpSummary) -> Vec<String> {
    let mut cells = vec![name.to_owned(), whole(op.count), number(op.per_s)];
    cells.extend([op.mean_us, op.p50_us, op.p95_us, op.p99_us, op.p999_us, op.max_us].map(maybe));
    cells
}

/// The same work as each level counted it.
pub fn ledger(page: &mut Page, step: &StepAnalysis) {
    for (title, rows) in [("reads", &step.ledger.reads), ("writes", &step.ledger.writes)] {
        if rows.is_empty() {
            continue;
        }
        let header = [
            (title, Left),
            ("per s", Right),
            ("MiB/s", Right),
            ("ratio", Right),
            ("expected", Right),
            ("why it differs", Left),
        ];
        let mut table = Table::new(&header);
        for row in rows {
            table.row(level(row));
        }
        page.blank();
        page.table(&table);
    }
    let summary = &step.summary;
    let hits =
        summary.hit_ratio.map(|hit| format!("the database's cache served {} of logical reads", percent(Some(hit))));
    let took = summary.read_latency_mean_us.filter(|_| is_physical(step));
    let took = took.map(|us| format!("a physical read took {} us on average, as the database saw it", number(us)));
    let said: Vec<_> = [hits, took].into_iter().flatten().collect();
    page.wrapped(2, &said.join("; "));
}

/// Whether physical reads are what the step is about.
fn is_physical(step: &StepAnalysis) -> bool {
    step.gates.method_yield.is_some_and(|y| y >= CACHED_YIELD)
}

fn level(row: &Row) -> Vec<String> {
    let bytes = row.unit == "bytes";
    let ratio = |value: Option<f64>| match value {
        None => String::new(),
        Some(value) if bytes => format!("{} B", number(value)),
        Some(value) => format!("{value:.2}"),
    };
    vec![
        row.name.to_owned(),
        if bytes { String::new() } else { maybe(row.per_s) },
        if row.counts_bytes { mib(row.bytes_per_s) } else { String::new() },
        ratio(row.ratio),
        ratio(row.expected),
        row.gap.clone().unwrap_or_default(),
    ]
}

/// Who used how much CPU.
pub fn cpu(page: &mut Page, step: &StepAnalysis) {
    let cpu = &step.summary.cpu;
    let mut parts = Vec::new();
    if let Some(cores) = cpu.db_cores {
        parts.push(format!("server {} cores", number(cores)));
    }
    if let (Some(busy), Some(cpus)) = (cpu.host_busy_share, step.counters.host_cpus()) {
        parts.push(format!("host {} of {cpus:.0} CPUs", percent(Some(busy))));
    }
    if let Some(cores) = cpu.client_cores {
        parts.push(format!("mindful {} cores", number(cores)));
    }
    if let Some(us) = cpu.db_us_per_physical_read.filter(|_| is_physical(step)) {
        parts.push(format!("{} us of server CPU a physical read", number(us)));
    }
    if let Some(us) = cpu.db_us_per_logical_read {
        parts.push(format!("{} us a logical read", number(us)));
    }
    if !parts.is_empty() {
        page.blank();
        page.wrapped(2, &format!("CPU: {}", parts.join(", ")));
    }
}
