//! The panels of a report: parts of a run's figures, each computed from the run and its analysis alone.

pub(crate) mod answer;
pub(crate) mod contrast;
pub(crate) mod facts;
pub(crate) mod figures;
pub(crate) mod io_job;
mod panel;
pub(crate) mod place;
mod ranks;
pub(crate) mod step;
pub(crate) mod sweep;

pub(crate) use panel::{Curve, Panel, Piece};

/// The answer of a run with a question, as the first sentence of its report.
pub(crate) struct Answer {
    pub sentence: String,
    pub details: String,
    pub found: bool,
}
