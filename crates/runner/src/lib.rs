//! Runs what is measured: makes the dataset, drives sessions through steps, records, and takes one step after another.
//! Knows no concrete engine.

pub mod boundaries;
mod cached;
pub mod calibration;
mod clock_offset;
mod context;
pub mod contrast;
pub mod dataset;
pub mod estimate;
mod following;
mod gate;
pub mod gathering;
mod heeding;
pub mod hooks;
pub mod io_job;
pub mod ladder;
pub mod measure;
pub mod merge;
pub mod orion;
pub mod party;
pub mod preflight;
mod recording;
pub mod repetition;
pub mod runner;
pub mod self_proof;
mod session;
pub mod shared_run;
pub mod source;
pub mod step;
pub mod sweep;
pub mod walk;

pub use context::Context;
pub use following::EarlyStop;
pub use recording::Recording;
pub use runner::{Ended, Resumed, run};
pub use source::{NextStep, Single, StepSource, System};
pub use step::{Start, StepObserver, StepOrder, StepOutcome, run_step};
