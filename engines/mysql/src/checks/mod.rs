//! Checks of the server, before anything runs, for conditions that would affect a result. A few short queries; changes
//! nothing.
//!
//! Every finding states its effect on the result and the remedy. A warning means that a figure would be misleading;
//! conditions that only make the server slower or noisier are information.

#[cfg(test)]
mod catalogue_test;
mod log;
mod others;
mod reads;
mod state;

use mindful_core::Result;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::result::finding::Finding;

use self::state::State;
use crate::connect::link::Link;
use crate::dataset::storage::Storage;
use crate::options::Options;

type Check = fn(&State) -> Option<Finding>;

pub(crate) fn checks(link: &Link, options: &Options, plan: &Plan, dataset: Option<&Dataset>) -> Result<Vec<Finding>> {
    let state = State::read(link, options, plan, dataset)?;
    match link.storage()? {
        Storage::InnoDb => Ok(check(&state)),
        Storage::Other(_) => Ok(OF_ALL.iter().filter_map(|check| check(&state)).collect()),
    }
}

const OF_ALL: &[Check] = &[
    log::read_only,
    reads::query_cache,
    others::statements_logged,
    others::sessions,
    others::users,
    others::connections,
    others::hidden,
];

fn check(state: &State) -> Vec<Finding> {
    let checks: &[Check] = &[
        reads::clock,
        log::read_only,
        reads::predicted_hits,
        reads::page_cache,
        reads::adaptive_hash,
        reads::read_ahead,
        reads::change_buffering,
        reads::pool_dump,
        reads::query_cache,
        reads::timing,
        log::commits_that_do_not_wait,
        log::binlog,
        log::doublewrite,
        log::io_capacity,
        log::flush_neighbors,
        others::statements_logged,
        others::sessions,
        others::users,
        others::connections,
        others::hidden,
    ];
    checks.iter().filter_map(|check| check(state)).collect()
}
