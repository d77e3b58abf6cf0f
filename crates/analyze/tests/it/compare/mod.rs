//! Comparisons of runs.

mod order;
mod property;
mod ranks;
mod simulation;
mod table;
