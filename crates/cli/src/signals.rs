//! Ctrl-C and similar signals: the first requests a stop, the second ends the process and everything that it started.

use std::io::Write;
use std::sync::OnceLock;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_host::{priority, terminal};
use mindful_report::live::screen;
use mindful_runner::hooks;
use rustix::process::{Signal, getpid, kill_process};

static STOP: OnceLock<StopFlag> = OnceLock::new();

/// The stop flag that SIGINT, SIGTERM and SIGHUP set.
pub(crate) fn stop_on_signal() -> Result<StopFlag> {
    if let Some(stop) = STOP.get() {
        return Ok(stop.clone());
    }
    let stop = STOP.get_or_init(StopFlag::default).clone();
    let requested = stop.clone();
    ctrlc::set_handler(move || {
        if requested.is_requested() || requested.may_exit_at_once() {
            // A hook that starts after this would outlive the process.
            let _no_hook_begins = hooks::end();
            screen::restore();
            terminal::restore();
            priority::give_back_all();
            if !requested.is_requested() {
                // Nothing can be done about a closed stderr.
                let _ = writeln!(std::io::stderr(), "mindful: interrupted");
            }
            #[expect(
                clippy::exit,
                reason = "the second signal, or there is nothing to lose; stored results stay readable"
            )]
            std::process::exit(130);
        }
        requested.request();
    })
    .map_err(|error| Error::run(format!("cannot handle signals: {error}"), "start mindful in another environment"))?;
    Ok(stop)
}

/// Does what Ctrl-C does, for a terminal in raw mode.
pub(crate) fn interrupt() {
    // A process may always signal itself.
    let _ = kill_process(getpid(), Signal::INT);
}
