//! One dataset in a database for several runs: refused, unless a run says that it shares.

use crate::Error;
use crate::plan::settings::Key;

/// The option by which a run says so.
pub const SHARED_KEY: Key = Key::with_default(
    "shared",
    "on|off",
    "off",
    "Run although another run uses the namespace, and say so in the report",
);

/// What a finding says of others who use it.
pub const SHARED: &str = "Another run, load or cleanup of mindful uses the namespace: it shares the dataset, its cache and its \
                          locks, and the server counts its work with this one's. Wait until it ends, or load another \
                          --namespace; without --shared a run is refused";

/// Others use `what`.
pub fn in_use_error(what: &str) -> Error {
    Error::target(
        format!("another run, load or cleanup of mindful uses {what}"),
        "wait until it ends, or choose another --namespace; a run beside another run goes on with --shared on",
    )
}
