//! `mindful import`, and runs that others stored.

mod hostile_runs;
mod hostile_text;
mod old_configurations;
mod reports;
