//! Checks of the writes of updates, and of their time.

use mindful_core::result::finding::Finding;

use super::state::State;
use crate::codes;

/// Default of both servers, from the time of single disks.
const SLOW_IO_CAPACITY: f64 = 200.0;

pub(super) fn read_only(state: &State) -> Option<Finding> {
    let name = ["super_read_only", "read_only"].into_iter().find(|name| {
        // MariaDB has more words than two: LOCKED ones are on as well.
        state.text(name).is_some() && !state.is_off(name)
    })?;
    state.planned.writes.then(|| {
        let text = "The server is read-only, so a load, updates and the functions of the server-side loop are \
                    refused. Connect to the primary, SET GLOBAL read_only = OFF, or run --loop client --update-pct 0";
        codes::WRITE_REFUSED.finding(text, format!("{name} = {}", state.text(name).unwrap_or("?")))
    })
}

pub(super) fn commits_that_do_not_wait(state: &State) -> Option<Finding> {
    let value = state.text("innodb_flush_log_at_trx_commit").filter(|value| *value != "1")?;
    (state.planned.updates && state.planned.commit_wait).then(|| {
        let text = "The plan has commits wait for the redo, but the server does not wait. Commits return from \
                    memory, and a crash loses the last second. To wait: SET GLOBAL innodb_flush_log_at_trx_commit = \
                    1";
        codes::COMMITS_DO_NOT_WAIT.finding(text, format!("innodb_flush_log_at_trx_commit = {value}"))
    })
}

pub(super) fn binlog(state: &State) -> Option<Finding> {
    (state.is_on("log_bin") && state.planned.updates).then(|| {
        let sync = state.text("sync_binlog").unwrap_or("?");
        let text = if sync == "1" {
            "Each commit writes and syncs the binary log as well as the redo, so it waits twice. Without a replica, \
             set skip_log_bin in the option file and restart"
        } else {
            "Each commit writes the binary log but does not wait for it, so a crash loses what replicas and backups \
             need. To wait, as production servers do: SET GLOBAL sync_binlog = 1"
        };
        codes::SERVER_SETTING.finding(text, format!("log_bin = ON, sync_binlog = {sync}"))
    })
}

pub(super) fn doublewrite(state: &State) -> Option<Finding> {
    (state.is_off("innodb_doublewrite") && state.planned.updates).then(|| {
        let text = "Pages are written once instead of twice, so updates write about half of what a server writes \
                    that survives a torn page. Unless storage writes 16 KiB atomically, set innodb_doublewrite = ON \
                    in the option file and restart";
        codes::SERVER_SETTING.finding(text, "innodb_doublewrite = OFF")
    })
}

pub(super) fn io_capacity(state: &State) -> Option<Finding> {
    let value = state.number("innodb_io_capacity").filter(|value| *value <= SLOW_IO_CAPACITY)?;
    state.planned.writes.then(|| {
        let text = "Dirty pages are written back at a rate for a single disk. A load takes minutes to settle, and \
                    updates are faster until the redo is full. To raise it: SET GLOBAL innodb_io_capacity_max = \
                    4000; SET GLOBAL innodb_io_capacity = 2000";
        codes::SERVER_SETTING.finding(text, format!("innodb_io_capacity = {value}"))
    })
}

pub(super) fn flush_neighbors(state: &State) -> Option<Finding> {
    let value = state.text("innodb_flush_neighbors").filter(|value| !matches!(*value, "0" | "OFF"))?;
    state.planned.updates.then(|| {
        let text = "With a dirty page its dirty neighbours are written, which spares a disk's arm and costs others writes \
                    that could have waited. SET GLOBAL innodb_flush_neighbors = 0";
        codes::SERVER_SETTING.finding(text, format!("innodb_flush_neighbors = {value}"))
    })
}
