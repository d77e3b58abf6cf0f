//! Runs what is measured: makes the dataset, drives sessions through steps, records, and takes one step after another.
//! Knows no concrete engine.

pub mod borders;
mod cached;
mod clock_offset;
mod close;
mod context;
pub mod dataset;
pub mod examine;
pub mod fits;
mod gate;
pub mod hooks;
pub mod job;
pub mod ladder;
pub mod measure;
mod recording;
pub mod repetition;
pub mod series;
mod session;
mod steadiness;
pub mod step;
pub mod sweep;

pub use close::Close;
pub use context::Context;
pub use recording::Recording;
pub use step::{Start, StepOrder, StepOutcome, Watch, run_step};
