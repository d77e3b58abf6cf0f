//! Makes the dataset and drives sessions through a step. Knows no concrete engine.

pub mod borders;
pub mod dataset;
mod gate;
mod session;
pub mod step;

pub use step::{Start, StepOrder, StepOutcome, run_step};
