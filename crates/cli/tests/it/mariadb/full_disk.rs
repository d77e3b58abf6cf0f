//! A MariaDB whose file system fills: one line, the documented exit code, and the next command works.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use mysql::prelude::Queryable as _;

use crate::mariadb::server::connect;
use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, PAUSES, Words, assert_has, message, printed, text, unwrapped};

/// A command on a MariaDB in a small file system.
fn on_small(mindful: &Mindful, small: &SmallDisk, args: impl Words) -> Command {
    mindful.command((args, format!("--target mariadb: --data-dir {}", small.data().display())))
}

#[test]
fn a_load_without_room_is_refused_and_one_with_room_follows() {
    let Some(small) = SmallDisk::private(400) else { return };
    let here = Mindful::new();
    let refused = on_small(&here, &small, "load --schemas 2 --scale 256MiB").output().unwrap();
    assert_eq!(refused.status.code(), Some(3), "{}", message(&refused));
    assert_has(message(&refused), "the load needs");
    let ran = on_small(&here, &small, "run --schemas 1 --scale 16MiB --warmup 0s --duration 1s").output().unwrap();
    assert_has(text(&ran), "blocks visited per second");
}

/// The output of a run during which the file system fills. An open transaction keeps the undo, so even slow updates
/// need space.
fn filled_while_it_runs(here: &Mindful, small: &SmallDisk, args: impl Words) -> (Output, PathBuf) {
    let mut run = on_small(here, small, args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("sessions ready")), "it ended before its sessions were ready");
    let mut reader = connect(&small.data().join("socket/mysql.sock"));
    reader.query_drop("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let fill = small.fill();
    lines.for_each(drop);
    (run.wait_with_output().unwrap(), fill)
}

#[test]
fn updates_on_a_full_disk_break_nothing() {
    let Some(small) = SmallDisk::private(400) else { return };
    let here = Mindful::new();
    let loaded = on_small(&here, &small, "load --schemas 1 --scale 16MiB").output().unwrap();
    assert!(loaded.status.success(), "{}", message(&loaded));
    let updates = "--schemas 1 --scale 16MiB --sessions 2 --update-pct 100 --redo heavy --warmup 0s";
    let run = |seconds| format!("run {updates} --duration {seconds}");

    let (filled, fill) = filled_while_it_runs(&here, &small, run("2m"));
    let report = unwrapped(&printed(&filled));
    assert_eq!(filled.status.code(), Some(1), "{report}");
    assert_has(&report, "INVALID…session-error…is full [1114]…free space where the server keeps its data");
    // The space that the server freed at its stop.
    small.fill();
    let refused = on_small(&here, &small, run("1s")).output().unwrap();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    // On a busy machine it prints first that the server is still starting.
    assert_has(message(&refused).lines().last().unwrap_or_default(), "No space left…free some space");

    fs::remove_file(fill).unwrap();
    let ran = on_small(&here, &small, (run("5s"), PAUSES)).output().unwrap();
    assert_has(text(&ran), "commits per second");
    let verified = on_small(&here, &small, "verify").output().unwrap();
    assert!(verified.status.success(), "{}", message(&verified));
}
