//! Checks of the server, before anything runs, for conditions that would affect a result. Three short queries; changes
//! nothing.
//!
//! Every finding states its effect on the result and the remedy. A warning means that a figure would be misleading;
//! conditions that only make the server slower or noisier are information.

#[cfg(test)]
mod catalogue_test;
pub(crate) mod connection_limit;
pub(crate) mod idle_settings;
mod log;
mod others;
pub(crate) mod privileges;
mod reads;
mod rights;
mod state;
mod watching;

use mindful_core::Result;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::result::Finding;

use self::state::State;
use crate::connect::link::Link;
use crate::options::Options;

/// All findings about the server that `link` leads to, for a run of `plan` on `dataset`, or on the one it would load.
pub(crate) fn checks(link: &Link, options: &Options, plan: &Plan, dataset: Option<&Dataset>) -> Result<Vec<Finding>> {
    Ok(check(&State::read(link, options, plan, dataset)?))
}

fn check(state: &State) -> Vec<Finding> {
    let checks: &[fn(&State) -> Option<Finding>] = &[
        rights::writes,
        rights::create,
        rights::temp,
        rights::checkpoint,
        reads::predicted_hits,
        reads::page_cache_ahead,
        reads::read_ahead,
        reads::idle_settings,
        reads::checksums,
        reads::huge_pages,
        log::fsync,
        log::full_page_writes,
        log::commits_that_do_not_wait,
        log::standbys,
        log::archiving,
        log::room,
        log::checkpoint_by_the_clock,
        watching::io_timing,
        watching::not_counted,
        watching::statements_logged,
        watching::libraries,
        watching::jit,
        others::autovacuum,
        others::sessions,
        others::horizon,
        others::slots,
        others::connections,
        others::memory,
        others::users,
        others::hidden,
    ];
    checks.iter().filter_map(|check| check(state)).collect()
}
