//! Judgement on what was measured: pure functions from data to figures and verdicts.

pub mod analysis;
pub mod checks;
pub mod choices;
pub mod comparable;
pub mod compare;
pub mod contrast;
pub mod counters;
pub mod cpu;
pub mod curve;
pub mod device;
pub mod headline;
pub mod host_checks;
pub mod io_job;
pub mod knee;
pub mod ladder;
pub mod latency;
pub mod ledger;
pub mod log_band;
pub mod pace;
pub mod residence;
pub mod seconds;
pub mod server_checks;
pub mod settling;
pub mod shares;
pub mod stats;
pub mod steady;
pub mod summary;
pub mod verdict;
pub mod window;
pub mod work;

pub use analysis::{Analysis, StepAnalysis, analyze};
