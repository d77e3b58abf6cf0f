//! Many runs as a folder of pages: an index with all runs in one table, and a page each.

use mindful_analyze::Analysis;
use mindful_analyze::compare::{OrderedBy, TableRow};
use mindful_analyze::figures::columns::columns;
use mindful_core::record::run::Run;

use crate::charts::Side;
use crate::figure::{self, format_counted};
use crate::{card, html, list};

/// Columns of time in the small picture of a step.
const COLUMNS: usize = 40;

/// A run in the index. It does not contain the run itself, so that hundreds fit into memory.
#[derive(Debug, Clone, Default)]
pub struct IndexedRun {
    pub(super) id: String,
    pub(super) started_at: String,
    pub(super) validity: &'static str,
    pub(super) kind: &'static str,
    pub(super) tag: String,
    pub(super) target: String,
    pub(super) sessions: String,
    pub(super) figure: String,
    pub(super) p99: String,
    pub(super) over_time: Vec<f64>,
    pub(super) over_time_of: String,
    /// `None` if the run cannot be read.
    pub(super) row: Option<Box<TableRow>>,
    pub(super) fault: String,
}

impl IndexedRun {
    /// The row of `run`.
    pub fn from_run(run: &Run, analysis: &Analysis, by: OrderedBy) -> Self {
        let summary = &analysis.summary;
        // No step of a contrast is its result.
        let best = card::best(analysis).map(|(_, step)| step).filter(|_| !summary.is_contrast());
        let p99 = best.and_then(|step| step.summary.ops.main()).and_then(|op| op.p99_us);
        let (over_time, over_time_of) = over_time(run, analysis);
        let unknown = || figure::UNKNOWN.to_owned();
        let figure = if let Some(contrast) = &summary.contrast {
            contrast.eta.map(|ratio| format!("{ratio:.3} ratio of database to raw"))
        } else if let Some(commits) = &summary.commits {
            commits.ratio.map(|ratio| format!("{ratio:.3} ratio of commits to bare writes"))
        } else {
            best.and_then(card::figure).map(|figure_and_label| figure_and_label.join(" "))
        };
        Self {
            id: summary.id.clone(),
            started_at: summary.started_at.clone(),
            validity: summary.validity.name(),
            kind: list::kind(&run.head, Some(summary)),
            tag: summary.tag.clone().unwrap_or_default(),
            target: summary.target.clone(),
            sessions: best.map_or_else(unknown, |step| figure::count(step.summary.sessions)),
            figure: figure.unwrap_or_else(unknown),
            p99: p99.map_or_else(unknown, figure::time_us),
            over_time,
            over_time_of,
            row: Some(Box::new(TableRow::from_run(&summary.id, run, analysis, by))),
            fault: String::new(),
        }
    }

    pub fn unreadable(id: &str, why: &str) -> Self {
        let (id, fault, unknown) = (id.to_owned(), why.to_owned(), || figure::UNKNOWN.to_owned());
        let validity = mindful_core::result::Validity::Invalid.name();
        Self { id, fault, validity, sessions: unknown(), figure: unknown(), p99: unknown(), ..Self::default() }
    }

    pub fn is_readable(&self) -> bool {
        self.row.is_some()
    }

    /// The name of its page.
    pub fn file(id: &str) -> String {
        format!("{id}.html")
    }
}

/// The page of one run, with the way back to all of them.
pub fn page(side: Side) -> String {
    html::page(&[side]).replacen("<main>\n", "<main>\n<p><a href=\"index.html\">all runs</a></p>\n", 1)
}

/// Throughput over the seconds of a single step, or over the steps of several.
fn over_time(run: &Run, analysis: &Analysis) -> (Vec<f64>, String) {
    if let ([record], [step]) = (run.steps.as_slice(), analysis.steps.as_slice()) {
        let all = step.window.as_ref().map(|window| columns(record, window, COLUMNS)).unwrap_or_default();
        return (all.iter().filter_map(|column| column.blocks_per_s).collect(), "throughput over time".to_owned());
    }
    let per_s = analysis.steps.iter().filter_map(|step| step.headline.as_ref()).map(|headline| headline.per_s);
    (per_s.collect(), format!("throughput of {}", format_counted(analysis.steps.len(), "step")))
}
