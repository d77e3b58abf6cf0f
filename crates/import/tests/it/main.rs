//! The tests of this crate from outside, in one program, so that one can wait while others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod damaged;
mod edited;
mod fio;
mod histogram_records;
mod huge;
mod import;
mod made;
mod measured;
mod orion;
mod pgio;
mod releases;
mod reports;
mod reports_exact;
mod samples;
mod traces;
mod workers;
