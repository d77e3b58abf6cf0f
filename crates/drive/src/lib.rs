//! Makes the dataset and drives sessions through a step. Knows no concrete engine.

pub mod borders;
mod clock_offset;
mod close;
pub mod dataset;
mod gate;
mod session;
pub mod step;

pub use close::Close;
pub use step::{Start, StepOrder, StepOutcome, Watch, run_step};
