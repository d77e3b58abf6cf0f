//! A run as it is stored and read back: its [`head`], its steps ([`run`]), the part of one rank ([`rank_record`]), and
//! the latency histograms of its slices ([`latency`]).

pub mod head;
pub mod latency;
pub(crate) mod published;
pub mod rank_record;
pub mod run;
