//! A MariaDB whose file system fills: one line, the documented exit code, and the next command works.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use mindful_conformance::own_mounts;
use mysql::prelude::Queryable as _;

use crate::mariadb::server::connect;
use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, PAUSES, ended, message, text};

fn on_small(mindful: &Mindful, data: &Path, args: &[&str]) -> Output {
    let data = data.display().to_string();
    mindful.run(&[args, &["--target", "mariadb:", "--data-dir", &data]].concat())
}

#[test]
fn a_load_without_room_is_refused_and_one_with_room_follows() {
    if !own_mounts() {
        return;
    }
    let Some(small) = SmallDisk::mounted(400) else { return };
    let here = Mindful::new();
    let refused = on_small(&here, &small.data(), &["load", "--schemas", "2", "--scale", "256MiB"]);
    assert_eq!(refused.status.code(), Some(3), "{}", message(&refused));
    assert!(message(&refused).contains("the load needs"), "{}", message(&refused));
    let fits = ["run", "--schemas", "1", "--scale", "16MiB", "--warmup", "0s", "--duration", "1s"];
    let ran = on_small(&here, &small.data(), &fits);
    assert!(ended(&ran), "{}", message(&ran));
    assert!(String::from_utf8_lossy(&ran.stdout).contains("blocks visited per second"), "{ran:?}");
}

/// The output of a run during which the file system fills. An open transaction keeps the undo, so even slow updates
/// need space.
fn filled_while_it_runs(here: &Mindful, small: &SmallDisk, args: &[&str]) -> (Output, PathBuf) {
    let data = small.data().display().to_string();
    let mut command = here.command(&[args, &["--target", "mariadb:", "--data-dir", &data]].concat());
    let mut run = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
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
    if !own_mounts() {
        return;
    }
    let Some(small) = SmallDisk::mounted(400) else { return };
    let here = Mindful::new();
    let data = ["--schemas", "1", "--scale", "16MiB"];
    let loaded = on_small(&here, &small.data(), &[&["load"], &data[..]].concat());
    assert!(loaded.status.success(), "{}", message(&loaded));
    let updates = ["--sessions", "2", "--update-pct", "100", "--redo", "heavy", "--warmup", "0s"];
    let run = |seconds| [&["run"], &data[..], &updates, &["--duration", seconds]].concat();

    let (filled, fill) = filled_while_it_runs(&here, &small, &run("2m"));
    let report = String::from_utf8_lossy(&filled.stdout).replace("\n         ", " ");
    assert_eq!(filled.status.code(), Some(1), "{report}");
    for part in ["INVALID", "session-error", "is full [1114]", "free space where the server keeps its data"] {
        assert!(report.contains(part), "no `{part}` in: {report}");
    }
    // The space that the server freed at its stop.
    small.fill();
    let refused = on_small(&here, &small.data(), &run("1s"));
    let progress = message(&refused);
    // On a busy machine it prints first that the server is still starting.
    let line = progress.lines().last().unwrap_or_default();
    assert_eq!(refused.status.code(), Some(3), "{progress}");
    assert!(line.contains("No space left") && line.contains("free some space"), "{line}");

    fs::remove_file(fill).unwrap();
    let ran = on_small(&here, &small.data(), &[&run("5s")[..], &PAUSES].concat());
    let report = text(&ran);
    assert!(report.contains("commits per second"), "{ran:?}");
    let verified = on_small(&here, &small.data(), &["verify"]);
    assert!(verified.status.success(), "{}", message(&verified));
}
