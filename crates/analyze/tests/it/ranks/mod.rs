//! Ranks of a run.

mod simulation;
mod steps;
