//! Checks for other active sessions in the server.

use mindful_core::plan::units::{format_bytes, format_counted, format_rounded};
use mindful_core::result::{Finding, Severity};
use mindful_sql::dataset::run_lock;

use super::state::State;
use crate::codes;
use crate::work::prepare::OWN_CONNECTIONS;

/// A transaction of others that is older than this is not about to end.
const OLD_S: f64 = 5.0;

/// Private memory of a working session's server process, bytes. Measured with the private server: 12.3 MiB
/// (docs/benchmarks.md).
const OF_A_SESSION: u64 = 12 << 20;

pub(super) fn autovacuum(state: &State) -> Option<Finding> {
    let tables = state.activity.vacuumed;
    (tables > 0 && state.is("autovacuum", "on")).then(|| {
        let text = "Autovacuum may start on mindful's tables during the run, and its reads and writes are counted as \
                    well. To turn it off: ALTER TABLE … SET (autovacuum_enabled = off)";
        codes::PG_AUTOVACUUM
            .finding(text, format!("autovacuum = on for {}", format_counted(tables.unsigned_abs(), "table")))
    })
}

pub(super) fn sessions(state: &State) -> Option<Finding> {
    let activity = &state.activity;
    (activity.active > 0).then(|| {
        let text = "Other sessions work in this server. They share its cache, CPU and devices, and their reads are \
                    counted with mindful's. Wait until they end, or SELECT pg_terminate_backend(PID)";
        let whom = activity.by_whom.as_deref().unwrap_or("?");
        codes::OTHERS_ACTIVE.finding(
            text,
            format!("{} of others: {whom}", format_counted(activity.active.unsigned_abs(), "active session")),
        )
    })
}

/// Old snapshots keep every version of a row alive, so that updates can no longer stay in their block.
pub(super) fn horizon(state: &State) -> Option<Finding> {
    let activity = &state.activity;
    let oldest = activity.oldest_s.filter(|age| *age > OLD_S);
    if oldest.is_none() && activity.holding_slots == 0 {
        return None;
    }
    let text = "An old transaction or slot keeps old rows. Updates leave their block, tables grow, and reads visit \
                dead rows. End the transaction (SELECT pg_terminate_backend(…), ROLLBACK PREPARED …), or drop the \
                slot";
    let age = oldest.map_or_else(String::new, |age| {
        let held = format_counted(activity.held.unsigned_abs(), "transaction");
        format!("snapshots are held by {held} of others, the oldest for {} s; ", format_rounded(age))
    });
    let evidence = format!(
        "{age}{} idle in transaction, {} with a horizon",
        format_counted(activity.idle_in_transaction.unsigned_abs(), "session"),
        format_counted(activity.holding_slots.unsigned_abs(), "replication slot")
    );
    let severity = if state.planned.updates { Severity::Warning } else { Severity::Info };
    Some(Finding::new(codes::PG_HELD_HORIZON, severity, text, evidence))
}

pub(super) fn slots(state: &State) -> Option<Finding> {
    let activity = &state.activity;
    (activity.slots > 0 && (state.planned.updates || activity.inactive_slots > 0)).then(|| {
        let text = "Replication slots keep WAL that was not fetched, so storage may become full. To drop those that \
                    are not needed: SELECT pg_drop_replication_slot(…)";
        let kept = activity.kept_bytes.map_or_else(
            || "an unknown amount of log kept".to_owned(),
            |bytes| format!("{} of log kept", format_bytes(bytes.max(0.0) as u64)),
        );
        codes::REPLICATION.finding(
            text,
            format!(
                "{}, {} of them inactive, {kept}",
                format_counted(activity.slots.unsigned_abs(), "slot"),
                activity.inactive_slots
            ),
        )
    })
}

pub(super) fn connections(state: &State) -> Option<Finding> {
    let refusal = state.room.as_ref()?.refusal(
        i32::try_from(state.planned.sessions).unwrap_or(i32::MAX),
        "sessions",
        "--sessions",
        OWN_CONNECTIONS,
    )?;
    let text = format!("The server cannot accept so many sessions, so the run will be refused. {}", refusal.next);
    Some(codes::CONNECTIONS.finding(&text, refusal.what))
}

/// Where memory ends, the kernel swaps or ends processes, mindful's or the server's.
pub(super) fn memory(state: &State) -> Option<Finding> {
    let (free, sessions) = (state.available_bytes?, u64::from(state.planned.sessions));
    let needed = sessions * OF_A_SESSION;
    (needed > free).then(|| {
        let text = format!(
            "The server's processes do not fit into memory. The kernel would swap, or kill one of them and end the \
             run. Use --sessions {} or fewer, or free memory first",
            (free / OF_A_SESSION).max(1)
        );
        let evidence = format!(
            "{} take about {} ({} each), {} are free",
            format_counted(sessions, "session"),
            format_bytes(needed),
            format_bytes(OF_A_SESSION),
            format_bytes(free)
        );
        codes::PG_SESSIONS_MEMORY.finding(text, evidence)
    })
}

/// Two runs on the same blocks measure each other.
pub(super) fn users(state: &State) -> Option<Finding> {
    let users = state.users.as_ref()?;
    Some(codes::DATASET_SHARED.finding(run_lock::SHARED, format!("server process {users}")))
}

/// A failed check is reported, because silence would look like success.
pub(super) fn hidden(state: &State) -> Option<Finding> {
    let missing: Vec<_> = [
        (!state.activity.sees_all, "other roles' sessions"),
        (
            state.text("debug_io_direct").is_none() && state.text("shared_preload_libraries").is_none(),
            "settings for administrators",
        ),
    ]
    .into_iter()
    .filter_map(|(missing, what)| missing.then_some(what))
    .collect();
    (!missing.is_empty()).then(|| {
        let text = "The role cannot see everything, so some checks were skipped: GRANT pg_monitor TO the role";
        codes::NOT_SEEN.finding(text, format!("server: {}", missing.join(", ")))
    })
}
