//! Judgement of measurements: pure functions from data to figures and verdicts.
//!
//! A module uses only modules of its own line and of the lines above it, never in a circle:
//!
//! 1. [`stats`], [`figures`] of a step, [`steady`]
//! 2. [`io_job`], [`contrast`], [`commit_contrast`], and [`curve`] with its [`knee`], for the steps of a run
//! 3. [`judgement`] and [`summary`], together a [`step`]
//! 4. [`checks`], [`objective`], [`analysis`] of a run and its targets, the [`catalogue`] of figures
//! 5. [`compare`]

mod analysis;
pub mod catalogue;
pub mod checks;
pub mod commit_contrast;
pub mod compare;
pub mod contrast;
pub mod curve;
pub mod figures;
pub mod io_job;
pub mod judgement;
pub mod knee;
mod objective;
pub mod stats;
pub mod steady;
pub mod step;
mod summary;

pub use analysis::{Analysis, analyze};
pub use step::StepAnalysis;
