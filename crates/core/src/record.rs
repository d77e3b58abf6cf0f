//! A run as it is stored and read back: its head, its steps and the parts of ranks ([`run`]), and the latency histograms
//! of its slices ([`latency`]).

pub(crate) mod head;
pub mod latency;
pub(crate) mod rank_record;
pub mod run;
