//! Where runs are stored: `--store`, `MINDFUL_STORE`, or the user's data directory.

use std::path::PathBuf;

use clap::ArgMatches;
use etcetera::BaseStrategy;
use mindful_core::{Error, Result};
use mindful_host::named_path;
use mindful_record::Store;

pub(crate) fn open(matches: &ArgMatches) -> Result<Store> {
    let given = matches.get_one::<String>("store").map(PathBuf::from);
    let variable = || std::env::var_os("MINDFUL_STORE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let below = |data: PathBuf| data.is_absolute().then(|| data.join("mindful"));
    // Containers often have this variable, but no home directory.
    let of_variable = || below(std::env::var_os("XDG_DATA_HOME")?.into());
    let of_the_user = || below(etcetera::choose_base_strategy().ok()?.data_dir());
    let folder =
        given.or_else(variable).or_else(of_variable).or_else(of_the_user).ok_or_else(|| {
            Error::plan("no home directory to store runs in", "pass --store DIR or set MINDFUL_STORE")
        })?;
    let place = named_path::folder(&folder);
    place.map(Store::open).map_err(|error| {
        Error::plan(format!("the store {}: {error}", folder.display()), "name the folder itself by --store DIR")
    })
}
