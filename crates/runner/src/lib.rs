//! One runner for every run: it loads the dataset, checks the target, drives sessions through one step after another
//! and records them. It depends on no concrete engine and no other process: sources of steps ([`StepSource`]) and
//! coordination ([`Coordination`]) are contracts that other crates implement.

mod abortable_target;
mod cache;
mod clock_offset;
mod context;
mod coordination;
pub mod dataset;
pub mod hooks;
pub mod measure;
pub mod preflight;
mod recording;
pub mod repetition;
mod runner;
pub mod self_proof;
mod source;
mod sources;
mod step;

pub use abortable_target::{AbortWatchdog, AbortableTarget, STEP_GRACE};
pub use clock_offset::ClockOffset;
pub use context::Context;
pub use coordination::{Alone, Coordination, Ended, Show};
pub use hooks::HookMoment;
pub use recording::Recording;
pub use runner::{Resumed, run};
pub use source::{NextStep, Single, StepSource, System};
pub use sources::{commit_contrast, contrast, estimate, io_job, orion, sweep, walk};
