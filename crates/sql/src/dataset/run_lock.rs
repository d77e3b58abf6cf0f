//! The lock of a namespace, which every engine builds from its server's means. A run holds the namespace exclusively,
//! or shares it with `--shared`; a load and a cleanup always hold it exclusively. The lock belongs to a connection, so
//! it ends with mindful.

use std::time::Duration;

use mindful_core::Error;
use mindful_core::plan::settings::Key;

pub const SHARED_KEY: Key =
    Key::with_default("shared", "on|off", "off", "Run even if another run uses the namespace; the report notes it");

pub const SHARED: &str = "Another run, load or cleanup of mindful uses the namespace: it shares the dataset, its cache and its \
                          locks, and the server counts its work with this one's. Wait until it ends, or load another \
                          --namespace; without --shared a run is refused";

/// Time for the server to notice that the connection of an earlier run has ended.
pub const LINGERS: Duration = Duration::from_secs(2);
pub const RETRY: Duration = Duration::from_millis(50);

pub fn in_use_error(what: &str) -> Error {
    Error::target(
        format!("another run, load or cleanup of mindful uses {what}"),
        "wait until it ends, or choose another --namespace; with --shared on, several runs may use one namespace",
    )
}
