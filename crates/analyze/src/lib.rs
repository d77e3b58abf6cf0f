//! Judgement on what was measured: pure functions from data to figures and verdicts.
//!
//! Modules use only those before them: [`stats`]; [`figures`] of a step; [`steady`]; [`io_job`], [`comparability`],
//! [`contrast`] and [`curve`] with its [`knee`] on a run's steps; [`summary`]; [`judgement`] on a [`step`]; [`checks`];
//! [`analysis`]; the [`catalogue`] of figures. [`compare`] and [`ladder`] use all of them.

mod analysis;
pub mod catalogue;
pub mod checks;
pub mod commit_contrast;
mod comparability;
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
mod targets;

pub use analysis::{Analysis, analyze};
pub use step::StepAnalysis;
