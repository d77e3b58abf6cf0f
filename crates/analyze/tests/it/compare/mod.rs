//! Comparisons of runs.

mod order;
mod property;
mod simulation;
