//! Checks of what updates write, and when.

use mindful_core::result::finding::Finding;

use super::state::State;
use crate::codes;

/// What both servers begin with, of the time of single disks.
const SLOW_IO_CAPACITY: f64 = 200.0;

pub(super) fn read_only(state: &State) -> Option<Finding> {
    let name = ["super_read_only", "read_only"].into_iter().find(|name| {
        // MariaDB has more words than two: LOCKED ones are on as well.
        state.text(name).is_some() && !state.is_off(name)
    })?;
    state.planned.writes.then(|| {
        let text = "The server takes no writes: a load, updates and the functions of the server-side loop are refused. Name \
                    the primary in the URL, SET GLOBAL read_only = OFF, or run --loop client --update-pct 0";
        codes::WRITE_REFUSED.finding(text, format!("{name} = {}", state.text(name).unwrap_or("?")))
    })
}

pub(super) fn commits_that_do_not_wait(state: &State) -> Option<Finding> {
    let value = state.text("innodb_flush_log_at_trx_commit").filter(|value| *value != "1")?;
    (state.planned.updates && state.planned.commit_wait).then(|| {
        let text = "The plan has commits wait for the redo, the server does not let them: their time is that of memory, and \
                    a crash loses the last second. SET GLOBAL innodb_flush_log_at_trx_commit = 1";
        codes::COMMITS_DO_NOT_WAIT.finding(text, format!("innodb_flush_log_at_trx_commit = {value}"))
    })
}

pub(super) fn binlog(state: &State) -> Option<Finding> {
    (state.is_on("log_bin") && state.planned.updates).then(|| {
        let sync = state.text("sync_binlog").unwrap_or("?");
        let text = if sync == "1" {
            "Every commit writes and syncs the binary log as well as the redo: two waits where a server without it has one. \
             skip_log_bin in the option file and a restart, where there is no replica"
        } else {
            "Every commit writes the binary log too and does not wait for it: a crash loses what replicas and backups rely \
             on. SET GLOBAL sync_binlog = 1, as a server that matters has it"
        };
        codes::SERVER_SETTING.finding(text, format!("log_bin = ON, sync_binlog = {sync}"))
    })
}

pub(super) fn doublewrite(state: &State) -> Option<Finding> {
    (state.is_off("innodb_doublewrite") && state.planned.updates).then(|| {
        let text = "Pages are written once and not twice, so updates cost about half the writes of a server that survives a \
                    torn page. innodb_doublewrite = ON in the option file and a restart, unless storage writes 16 KiB at once";
        codes::SERVER_SETTING.finding(text, "innodb_doublewrite = OFF")
    })
}

pub(super) fn io_capacity(state: &State) -> Option<Finding> {
    let value = state.number("innodb_io_capacity").filter(|value| *value <= SLOW_IO_CAPACITY)?;
    state.planned.writes.then(|| {
        let text = "Dirty pages are written back at a rate made for a single disk: what a load left takes minutes to settle, \
                    and updates outrun it until the redo is full. SET GLOBAL innodb_io_capacity_max = 4000; SET GLOBAL \
                    innodb_io_capacity = 2000";
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
