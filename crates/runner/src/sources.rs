//! Sources of steps: which step a run measures next, given the figures of those before.
//!
//! A source receives the figures of each finished step and never reads the run folder, so it can be tested with
//! invented figures. A sweep keeps no state: its settings and the finished steps determine the next one. So a killed
//! sweep resumes from its run folder alone. [`ladder`] has the pure functions that choose load steps; [`walk`] drives a
//! [`sweep`] within its budget.

mod calibration;
pub mod commit_contrast;
pub mod contrast;
pub mod estimate;
pub mod io_job;
pub(crate) mod ladder;
pub mod orion;
pub mod sweep;
pub mod walk;
