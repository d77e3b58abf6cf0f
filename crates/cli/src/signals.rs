//! Ctrl-C and its like: the first asks everybody to end, the second ends the process and what it started.

use std::io::Write;
use std::sync::OnceLock;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_host::{priority, terminal};
use mindful_report::live::screen;
use mindful_runner::hooks;
use rustix::process::{Signal, getpid, kill_process};

/// The process has one.
static STOP: OnceLock<StopFlag> = OnceLock::new();

/// The stop flag that SIGINT, SIGTERM and SIGHUP request.
pub fn stop_on_signal() -> Result<StopFlag> {
    if let Some(stop) = STOP.get() {
        return Ok(stop.clone());
    }
    let stop = STOP.get_or_init(StopFlag::default).clone();
    let requested = stop.clone();
    ctrlc::set_handler(move || {
        if requested.is_requested() || requested.may_exit_at_once() {
            // What begins after this would be left behind.
            let _no_hook_begins = hooks::end();
            screen::restore();
            terminal::restore();
            priority::give_back_all();
            if !requested.is_requested() {
                // With stderr gone there is nobody left to tell.
                let _ = writeln!(std::io::stderr(), "mindful: interrupted");
            }
            #[expect(clippy::exit, reason = "asked twice, or nothing is lost; what is stored stays readable")]
            std::process::exit(130);
        }
        requested.request();
    })
    .map_err(|error| Error::run(format!("signals cannot be handled: {error}"), "run it in an ordinary process"))?;
    Ok(stop)
}

/// Does what Ctrl-C does, where the terminal hands it over as a key.
pub fn interrupt() {
    // A process may always signal itself.
    let _ = kill_process(getpid(), Signal::INT);
}
