//! `mindful import`, and runs that others stored.

mod edits;
mod hostile_runs;
mod hostile_text;
mod old_configurations;
mod reports;
