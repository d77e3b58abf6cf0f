//! Runs as files for programs.

pub mod benchmarks;
pub mod csv;
pub mod json;
pub mod matrix;
pub mod old_columns;
pub mod packed;
pub mod unproven;
