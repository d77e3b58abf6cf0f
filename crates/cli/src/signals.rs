//! Ctrl-C and its like: the first asks everybody to end, the second ends the process.

use mindful_core::engine::Stop;
use mindful_core::{Error, Result};

/// A stop flag that SIGINT, SIGTERM and SIGHUP request.
pub fn stop_on_signal() -> Result<Stop> {
    let stop = Stop::default();
    let requested = stop.clone();
    ctrlc::set_handler(move || {
        if requested.requested() {
            #[expect(clippy::exit, reason = "the user asked twice; what is stored stays readable")]
            std::process::exit(130);
        }
        requested.request();
    })
    .map_err(|error| Error::run(format!("signals cannot be handled: {error}"), "run it in an ordinary process"))?;
    Ok(stop)
}
