//! The tests of this crate from outside, in one program, so that one can wait while others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod benchmarks;
mod browser;
mod charts;
mod csv_columns;
mod facts;
mod forms;
mod heat;
mod hostile_numbers;
mod hostile_sides;
mod keyboard;
mod log_waits;
#[path = "../../../analyze/tests/it/made.rs"]
mod made;
mod markdown;
mod notice;
mod panics;
mod place;
mod ranks;
mod terminal;
mod words;
