//! Judgement on what was measured: pure functions from data to figures and verdicts.

pub mod stats;
