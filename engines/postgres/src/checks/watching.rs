//! Checks of the cost of observing the server, and of invisible parts.

use crate::codes;
use mindful_core::result::Finding;

use super::state::State;

pub(super) fn io_timing(state: &State) -> Option<Finding> {
    state.is("track_io_timing", "off").then(|| {
        let cost = state.clock_ns.map_or_else(String::new, |ns| {
            format!("; it would read the clock twice for each read, about {ns:.0} ns each here")
        });
        let text = "The server does not time its reads, so their latency inside the database is unknown. To turn it \
                    on: ALTER SYSTEM SET track_io_timing = on; SELECT pg_reload_conf()";
        codes::IO_TIMING_OFF.finding(text, format!("track_io_timing = off{cost}"))
    })
}

pub(super) fn not_counted(state: &State) -> Option<Finding> {
    let off: Vec<_> = ["track_counts", "track_activities"].into_iter().filter(|name| state.is(name, "off")).collect();
    (!off.is_empty()).then(|| {
        let resets: Vec<_> = off.iter().map(|name| format!("ALTER SYSTEM RESET {name}")).collect();
        let text = format!(
            "The server does not count what it does. Without track_counts logical reads and changes of tables by others \
             are unknown, without track_activities waits and sessions of others. Run {}, and SELECT pg_reload_conf(). If \
             that has no effect, the database or the role sets it: ALTER DATABASE or ALTER ROLE … RESET",
            resets.join(" and ")
        );
        let off: Vec<_> = off.iter().map(|name| format!("{name} = off")).collect();
        codes::NOT_SEEN.finding(text, format!("server: {}", off.join(", ")))
    })
}

pub(super) fn statements_logged(state: &State) -> Option<Finding> {
    let all = |name: &str| state.number(name).filter(|ms| *ms == 0.0).map(|_| format!("{name} = 0"));
    let is = |name: &str, value: &str| state.is(name, value).then(|| format!("{name} = {value}"));
    let logged: Vec<_> = [
        all("log_min_duration_statement"),
        all("auto_explain.log_min_duration"),
        is("log_statement", "all"),
        is("log_statement", "mod").filter(|_| state.planned.updates),
        is("log_duration", "on"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!logged.is_empty()).then(|| {
        let text = "The server writes statements to its log, which slows each operation of the client's loop. For \
                    each setting named: ALTER SYSTEM RESET, then SELECT pg_reload_conf()";
        codes::SERVER_SETTING.finding(text, logged.join(", "))
    })
}

pub(super) fn libraries(state: &State) -> Option<Finding> {
    let libraries = state.text("shared_preload_libraries").filter(|libraries| !libraries.is_empty())?;
    let text = "Libraries are loaded into the server that may take CPU in each statement. To measure without them: \
                ALTER SYSTEM RESET shared_preload_libraries, and restart";
    Some(codes::SERVER_SETTING.finding(text, format!("shared_preload_libraries = {libraries}")))
}

/// Compiling costs CPU of the server; mindful's sessions turn it off, other clients do not.
pub(super) fn jit(state: &State) -> Option<Finding> {
    state.is("jit", "on").then(|| {
        let above = state.text("jit_above_cost").unwrap_or("unknown");
        let text = "Expensive statements of other clients are compiled, which takes CPU during a run. mindful's own \
                    sessions turn JIT off. To turn it off for all: ALTER SYSTEM SET jit = off; SELECT \
                    pg_reload_conf()";
        codes::SERVER_SETTING.finding(text, format!("jit = on, jit_above_cost = {above}"))
    })
}
