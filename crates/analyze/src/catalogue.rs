//! The catalogue of figures, from which the CSV, `show --explain` and docs/metrics.md are made.
//!
//! A figure of the summary is declared with its field in `core::result`. Only figures outside the summary are declared
//! here: derived columns of the CSV, and figures that only `--explain` shows.

use std::sync::{Arc, LazyLock};

use mindful_core::contract::metric::Counter;
pub use mindful_core::result::figure::Unit;
use mindful_core::result::figure::{FigureRow, Figures as _};
use mindful_core::result::{OpSummary, StepSummary};

use crate::io_job;
use crate::step::StepAnalysis;

const MIB: f64 = 1_048_576.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Csv,
    Explained,
}

pub struct Figure {
    /// Its path is that in a step of the summary: `cpu.db_cores`, `ops.select.p99_us`.
    pub row: FigureRow<StepAnalysis>,
    shown: Shown,
}

impl Figure {
    /// The last part of its path: `db_cores`.
    pub fn name(&self) -> &str {
        self.row.path.rsplit('.').next().unwrap_or(&self.row.path)
    }

    /// The title of its column in the CSV: `db_cores`, `select_p99_us`.
    pub fn title(&self) -> String {
        let path = &self.row.path;
        let path = ["cpu.", "ops."].iter().find_map(|part| path.strip_prefix(part)).unwrap_or(path);
        self.row.title.map_or_else(|| path.replace('.', "_"), str::to_owned)
    }

    /// Whether it belongs to updates or scans: their rows repeat the rows of selects.
    fn repeats_select(&self) -> bool {
        self.row.path.starts_with("ops.update.") || self.row.path.starts_with("ops.scan.")
    }
}

static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let of_step = |row: FigureRow<StepSummary>| Figure {
        row: row.of_part(|step: &StepAnalysis| Some(&step.summary)),
        shown: Shown::Csv,
    };
    let mut figures: Vec<Figure> = StepSummary::figures().into_iter().map(of_step).collect();
    let peak = figures.iter().position(|figure| figure.row.path == "client_peak_bytes");
    let peak = peak.map(|at| figures.remove(at));
    insert_after(&mut figures, "cpu.client_cores", peak);
    for (path, more) in besides_the_summary() {
        insert_after(&mut figures, path, more);
    }
    figures
});

/// The figures of the kind of operation that a step is about, by the last part of their paths.
static MAIN_OPERATION: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let of_main = |row: FigureRow<OpSummary>| Figure {
        row: row.of_part(|step: &StepAnalysis| step.summary.ops.main()),
        shown: Shown::Explained,
    };
    OpSummary::figures().into_iter().map(of_main).collect()
});

/// Inserts `more` after the figure at `path`, or at the end if no figure has that path.
fn insert_after(figures: &mut Vec<Figure>, path: &str, more: impl IntoIterator<Item = Figure>) {
    let at = figures.iter().position(|figure| figure.row.path == path).map_or(figures.len(), |at| at + 1);
    figures.splice(at..at, more);
}

/// Figures that the summary does not have, each group with the path of the figure before it.
fn besides_the_summary() -> [(&'static str, Vec<Figure>); 4] {
    use Shown::{Csv, Explained};
    let in_flight = vec![
        figure(
            Csv,
            ("small_in_flight", Unit::Count, &[]),
            "small I/Os that a step of a raw job kept in flight, of all sessions together",
            |s| io_job::load(&s.summary.point).map(|(small, _)| small.into()),
        ),
        figure(
            Csv,
            ("large_in_flight", Unit::Count, &[]),
            "large reads that a step of a raw job kept in flight, of all sessions together",
            |s| io_job::load(&s.summary.point).map(|(_, large)| large.into()),
        ),
    ];
    let operations = vec![
        figure(
            Explained,
            ("choices.operations", Unit::Count, &[]),
            "operations with counted choices, of all slices after the warm-up",
            |s| s.summary.choices.as_ref().map(|choices| choices.operations as f64),
        ),
        figure(
            Explained,
            ("little", Unit::Share, &[]),
            "|sessions not thinking - operations per second x mean time| / sessions not thinking; a loop in the \
             database counts into the time",
            |s| s.evidence.little_breach,
        ),
    ];
    let reads = vec![
        figure(
            Explained,
            ("foreign_share", Unit::Share, &[Counter::ProcessReadBytes, Counter::DeviceReadBytes]),
            "1 - bytes read by the server's processes / bytes read by the device",
            |s| s.gates.foreign_share,
        ),
        figure(
            Explained,
            ("method_yield", Unit::Share, &[Counter::PhysicalReads]),
            "physical reads / blocks visited",
            |s| s.gates.method_yield,
        ),
    ];
    let volume = vec![
        figure(
            Csv,
            ("read_mib_per_s", Unit::MibPerSecond, &[Counter::PhysicalReads]),
            "physical reads per second x length of a block",
            |s| mib_per_s(s, s.summary.physical_reads_per_s),
        ),
        figure(
            Csv,
            ("write_mib_per_s", Unit::MibPerSecond, &[Counter::PhysicalWrites]),
            "physical writes per second x length of a block",
            |s| mib_per_s(s, s.summary.physical_writes_per_s),
        ),
        figure(Csv, ("log_mib_per_s", Unit::MibPerSecond, &[Counter::LogBytes]), "bytes of log per second", |s| {
            Some(s.summary.log_bytes_per_s? / MIB)
        }),
    ];
    [
        ("work_unit", in_flight),
        ("ops.scan.max_us", operations),
        ("page_cache_share", reads),
        ("write_requests_per_s", volume),
    ]
}

fn figure(
    shown: Shown,
    (path, unit, counters): (&str, Unit, &'static [Counter]),
    formula: &'static str,
    value: fn(&StepAnalysis) -> Option<f64>,
) -> Figure {
    let row = FigureRow { path: path.to_owned(), title: None, unit, formula, counters, value: Arc::new(value) };
    Figure { row, shown }
}

/// MiB per second of `blocks` of the target per second.
fn mib_per_s(step: &StepAnalysis, blocks: Option<f64>) -> Option<f64> {
    Some(blocks? * step.block_bytes? as f64 / MIB)
}

pub fn csv() -> impl Iterator<Item = &'static Figure> + Clone {
    FIGURES.iter().filter(|figure| figure.shown == Shown::Csv)
}

/// The names by which figures can be found, each once.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIGURES.iter().filter(|figure| !figure.repeats_select()).map(Figure::name)
}

/// The figure of that name: a path of the summary, a title of the CSV, or the last part of either.
pub fn find(name: &str) -> Option<&'static Figure> {
    let named = FIGURES.iter().find(|figure| figure.row.path == name || figure.title() == name);
    let short = name.rsplit('.').next().unwrap_or(name);
    let by_short = || MAIN_OPERATION.iter().chain(FIGURES.iter()).find(|figure| figure.name() == short);
    named.or_else(by_short)
}

/// The table of docs/metrics.md.
pub fn markdown() -> String {
    let row = |figure: &Figure| {
        let counters: Vec<_> = figure.row.counters.iter().map(|counter| format!("`{counter}`")).collect();
        let (unit, formula) = (figure.row.unit.name(), figure.row.formula.replace('|', "\\|"));
        format!("| `{}` | {unit} | {formula} | {} |\n", figure.row.path, counters.join(" "))
    };
    let rows: String = FIGURES.iter().filter(|figure| !figure.repeats_select()).map(row).collect();
    format!("| figure | unit | formula | counters |\n|---|---|---|---|\n{rows}")
}
