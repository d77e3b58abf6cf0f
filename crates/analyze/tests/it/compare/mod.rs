//! Comparisons of runs.

mod currencies;
mod order;
mod property;
mod simulation;
mod table;
