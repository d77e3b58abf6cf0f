//! Where runs are stored: `--store`, `MINDFUL_STORE`, or the user's data directory.

use std::path::PathBuf;

use clap::ArgMatches;
use etcetera::BaseStrategy;
use mindful_core::{Error, Result};
use mindful_record::Store;

/// The store this invocation uses.
pub fn open(matches: &ArgMatches) -> Result<Store> {
    let given = matches.get_one::<String>("store").map(PathBuf::from);
    let given = given.or_else(|| std::env::var_os("MINDFUL_STORE").map(PathBuf::from));
    match given {
        Some(path) => Ok(Store::open(path)),
        None => {
            etcetera::choose_base_strategy().map(|base| Store::open(base.data_dir().join("mindful"))).map_err(|_| {
                Error::plan("there is no home directory to keep runs in", "give --store DIR or set MINDFUL_STORE")
            })
        }
    }
}
