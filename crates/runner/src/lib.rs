//! Runs what is measured: makes the dataset, drives sessions through steps, records, and takes one step after another.
//! Knows no concrete engine.

pub mod borders;
mod cached;
pub mod calibration;
mod clock_offset;
mod close;
mod context;
pub mod contrast;
pub mod dataset;
pub mod examine;
pub mod fits;
mod following;
mod gate;
pub mod hooks;
pub mod io_job;
pub mod ladder;
pub mod measure;
pub mod orion;
mod recording;
pub mod repetition;
pub mod runner;
mod session;
pub mod source;
pub mod step;
pub mod sweep;
pub mod walk;

pub use close::Close;
pub use context::Context;
pub use recording::Recording;
pub use runner::{Ended, Resumed, run};
pub use source::{NextStep, Single, StepSource, System};
pub use step::{Start, StepOrder, StepOutcome, Watch, run_step};
