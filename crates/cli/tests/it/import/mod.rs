//! `mindful import`, and runs stored by others.

mod edits;
mod hostile_runs;
mod hostile_text;
mod old_configurations;
mod reports;
