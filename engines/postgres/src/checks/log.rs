//! Checks of the cost of updates: log, commits, checkpoints.

use crate::codes;
use mindful_core::plan::units::format_bytes;
use mindful_core::result::{Finding, Severity};

use super::state::State;

/// WAL a second that is assumed besides full pages, bytes: a modest rate of small updates.
const ASSUMED_LOG: f64 = (8_u64 << 20) as f64;

pub(super) fn fsync(state: &State) -> Option<Finding> {
    let text = "Nothing is forced to storage. Commits cost nothing and are not durable, and a crash destroys the \
                database. To turn it on: ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()";
    let severity = if state.planned.updates { Severity::Warning } else { Severity::Info };
    state.is("fsync", "off").then(|| Finding::new(codes::PG_FSYNC_OFF, severity, text, "fsync = off"))
}

pub(super) fn full_page_writes(state: &State) -> Option<Finding> {
    (state.planned.updates && state.is("full_page_writes", "off")).then(|| {
        let text = "The WAL contains no full pages, so updates after a checkpoint write less WAL than a database \
                    needs to survive torn pages. To turn it on: ALTER SYSTEM SET full_page_writes = on; SELECT \
                    pg_reload_conf()";
        codes::SERVER_SETTING.finding(text, "full_page_writes = off")
    })
}

/// Sessions keep the server's `synchronous_commit`, unless the plan sets commits without waiting.
pub(super) fn commits_that_do_not_wait(state: &State) -> Option<Finding> {
    let asked = state.planned.updates && state.planned.commit_wait;
    (asked && state.is("synchronous_commit", "off")).then(|| {
        let text = "The plan has commits wait for the WAL, but the server does not wait, so commits are not durable \
                    when they return. To wait: ALTER SYSTEM SET synchronous_commit = on; SELECT pg_reload_conf(), or \
                    run with --commit-wait off";
        codes::COMMITS_DO_NOT_WAIT.finding(text, "synchronous_commit = off")
    })
}

pub(super) fn standbys(state: &State) -> Option<Finding> {
    let names = state.text("synchronous_standby_names").filter(|names| !names.is_empty())?;
    let waits = !state.is("synchronous_commit", "off") && !state.is("synchronous_commit", "local");
    (state.planned.updates && state.planned.commit_wait && waits).then(|| {
        let text = "Each commit waits for a standby, so its latency includes the network and the standby. To exclude \
                    them: ALTER SYSTEM SET synchronous_standby_names = ''; SELECT pg_reload_conf()";
        let level = state.text("synchronous_commit").unwrap_or("on");
        codes::REPLICATION.finding(text, format!("synchronous_standby_names = {names}, synchronous_commit = {level}"))
    })
}

pub(super) fn archiving(state: &State) -> Option<Finding> {
    let mode = state.text("archive_mode").filter(|mode| *mode != "off")?;
    (state.planned.updates || state.activity.replicas > 0).then(|| {
        let text = "Archiver and replicas read the WAL while it is written, and share CPU, device and network with \
                    the run. To turn archiving off: ALTER SYSTEM SET archive_mode = off, and restart";
        codes::REPLICATION
            .finding(text, format!("archive_mode = {mode}, {} replicas connected", state.activity.replicas))
    })
}

/// A checkpoint is forced when the log since the last one is `max_wal_size / (1 + checkpoint_completion_target)`.
pub(super) fn room(state: &State) -> Option<Finding> {
    let planned = &state.planned;
    let target = state.number("checkpoint_completion_target").unwrap_or(0.9);
    let room = state.number("max_wal_size")? / (1.0 + target);
    let full_pages = if state.is("full_page_writes", "off") { 0.0 } else { planned.active_bytes as f64 };
    let expected = full_pages + ASSUMED_LOG * planned.duration.as_secs_f64();
    (planned.updates && room < expected).then(|| {
        let text = "The WAL will exceed max_wal_size during the run. Forced checkpoints write all dirty blocks, and \
                    later updates log full pages again. To avoid them: ALTER SYSTEM SET max_wal_size = …; SELECT \
                    pg_reload_conf()";
        let evidence = format!(
            "a checkpoint each {} of log; expected are {}: full pages of {} and {} a second",
            format_bytes(room as u64),
            format_bytes(expected as u64),
            format_bytes(full_pages as u64),
            format_bytes(ASSUMED_LOG as u64)
        );
        codes::CHECKPOINTS_AHEAD.finding(text, evidence)
    })
}

pub(super) fn checkpoint_by_the_clock(state: &State) -> Option<Finding> {
    let (timeout_s, run_s) = (state.number("checkpoint_timeout")? / 1e3, state.planned.duration.as_secs_f64());
    (state.planned.updates && timeout_s < run_s).then(|| {
        let text = "Timed checkpoints will occur during the run. The window should contain at least two whole ones, \
                    or none: ALTER SYSTEM SET checkpoint_timeout = '1h'; SELECT pg_reload_conf()";
        codes::CHECKPOINTS_AHEAD.finding(text, format!("a checkpoint each {timeout_s:.0} s, a run of {run_s:.0} s"))
    })
}
