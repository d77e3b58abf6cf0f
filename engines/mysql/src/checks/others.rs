//! Checks of other sessions at work in the server, and of the server's own work.

use mindful_core::plan::units::format_counted;
use mindful_core::result::finding::Finding;
use mindful_sql::dataset::run_lock;

use super::state::State;
use crate::codes;

/// Connections for counters, waits and control.
const OWN_CONNECTIONS: u32 = 3;

pub(super) fn statements_logged(state: &State) -> Option<Finding> {
    let slow = state.is_on("slow_query_log") && state.number("long_query_time").is_some_and(|time| time < 0.01);
    let logs: Vec<&str> = [
        (state.is_on("general_log"), "general_log = ON"),
        (slow, "slow_query_log = ON with long_query_time below 10 ms"),
    ]
    .into_iter()
    .filter_map(|(on, what)| on.then_some(what))
    .collect();
    (!logs.is_empty()).then(|| {
        let text = "The server writes statements to a log, which slows each operation of the client's loop. To turn \
                    it off: SET GLOBAL general_log = OFF; SET GLOBAL slow_query_log = OFF";
        codes::SERVER_SETTING.finding(text, logs.join(", "))
    })
}

pub(super) fn sessions(state: &State) -> Option<Finding> {
    let whom = &state.activity.by_whom;
    (!whom.is_empty()).then(|| {
        let text = "Other sessions work in this server. They share its buffer pool, CPU and devices, and their reads \
                    are counted with mindful's. Wait until they end, or KILL their connections (SHOW PROCESSLIST)";
        codes::OTHERS_ACTIVE.finding(text, format!("statements of others: {}", whom.join(", ")))
    })
}

/// Two runs on the same pages measure each other.
pub(super) fn users(state: &State) -> Option<Finding> {
    let users = state.users.as_ref()?;
    Some(codes::DATASET_SHARED.finding(run_lock::SHARED, format!("connection {users}")))
}

pub(super) fn connections(state: &State) -> Option<Finding> {
    let most = state.number("max_connections")? as u32;
    let wanted = state.planned.sessions + OWN_CONNECTIONS;
    // This connection counts as one of the open ones.
    let free = (most + 1).saturating_sub(state.activity.connected);
    (wanted > free).then(|| {
        let text = format!(
            "The server cannot accept so many sessions, so the run would be refused. Use fewer --sessions, or SET \
             GLOBAL max_connections = {}",
            most + wanted - free
        );
        let sessions = state.planned.sessions;
        let evidence =
            format!("{} do not fit: max_connections is {most}, {free} are free", format_counted(sessions, "session"));
        codes::CONNECTIONS.finding(text, evidence)
    })
}

/// A failed check is reported, because silence would look like success.
pub(super) fn hidden(state: &State) -> Option<Finding> {
    (!state.activity.sees_all).then(|| {
        let text = "The user cannot see everything, so some checks and counters were skipped. GRANT PROCESS ON *.* \
                    TO the user";
        codes::NOT_SEEN.finding(text, "server: sessions of other users")
    })
}
