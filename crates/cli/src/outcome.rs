//! The end of a measuring verb: its exit code, or the error that ended it.

use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_runner::Ended;

use crate::exit::Exit;

/// For a run of one step: its report shows the error that cut it short.
pub(crate) fn of_one_step(ended: &Ended) -> Exit {
    match (&ended.error, ended.interrupted, ended.valid) {
        (_, true, _) => Exit::Interrupted,
        (Some(_), ..) | (_, _, false) => Exit::Invalid,
        _ => Exit::Ok,
    }
}

/// For a sweep, which can be resumed.
pub(crate) fn of_sweep(ended: Ended) -> Result<Exit> {
    let resume = format!("`mindful sweep --resume {}` continues", ended.run.head.id);
    of_steps(ended).map_err(|error| {
        let next = if error.next.is_empty() { resume } else { format!("{}; then {resume}", error.next) };
        Error { next, ..error }
    })
}

pub(crate) fn of_steps(ended: Ended) -> Result<Exit> {
    match ended.error {
        Some(error) => Err(error),
        None if ended.interrupted => Err(Error::interrupted("interrupted; the results up to here are stored")),
        None if ended.analysis.summary.validity == Validity::Invalid => Ok(Exit::Invalid),
        None => Ok(Exit::Ok),
    }
}
