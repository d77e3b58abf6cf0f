//! Surroundings of a private server: foreign programs in PATH, ids of dead processes, a disk that is too small.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

use mindful_conformance::{not_run, quick_place, write_program};

use crate::mindful::processes::has_ended;
use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, ended, message, short_run};

const SERVER_USER: u32 = 60_943;
const NOBODY: u32 = 65_534;

#[test]
fn a_number_that_a_dead_process_keeps_stops_no_server() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root has a process of the server's user");
    }
    let mindful = Mindful::beside_others(quick_place()).with_private();
    // A zombie, as below a first process that does not reap its children.
    let mut dead = Command::new("true").uid(SERVER_USER).gid(SERVER_USER).spawn().unwrap();
    while !has_ended(dead.id()) {
        std::thread::yield_now();
    }
    let data = mindful.private_folder().join("pgdata");
    let left = format!("{}\n{}\n1\n5432\n/nowhere\n\n 0 0\nready\n", dead.id(), data.display());
    fs::write(data.join("postmaster.pid"), left).unwrap();
    chown(data.join("postmaster.pid"), Some(SERVER_USER), Some(SERVER_USER)).unwrap();
    let ran = mindful.private(short_run("--duration=1s"));
    dead.wait().unwrap();
    assert!(ended(&ran), "{}", message(&ran));
}

#[test]
fn programs_of_others_in_path_run_only_if_the_user_names_them() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root gives folders away");
    }
    let mindful = Mindful::beside_others(quick_place()).with_private();
    let (theirs, ran) = (mindful.path("theirs"), mindful.path("ran"));
    fs::create_dir(&theirs).unwrap();
    fs::set_permissions(mindful.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    for name in ["cat", "env", "ipcrm", "kill", "ps", "sh", "sleep", "stty", "timeout", "tput", "xdg-open"] {
        let text = format!("#!/bin/bash\necho {name} >>{}\nPATH=/usr/bin:/bin exec {name} \"$@\"\n", ran.display());
        write_program(&theirs.join(name), &text);
    }
    fs::write(&ran, "").unwrap();
    fs::set_permissions(&ran, fs::Permissions::from_mode(0o666)).unwrap();
    chown(&theirs, Some(NOBODY), Some(NOBODY)).unwrap();
    let path = format!("{}:/usr/bin:/bin", theirs.display());
    // The server is killed, so that its shared memory remains.
    let pid = mindful.private_folder().join("pgdata/postmaster.pid");
    let kill = format!("--hook-before 'kill -9 $(head -1 {}); sleep 0; cat /dev/null'", pid.display());
    let run = |hook: &str| {
        mindful.on_private(short_run(format!("--duration=1s {hook}"))).env("PATH", &path).output().unwrap()
    };
    run(&kill);
    let named = fs::read_to_string(&ran).unwrap();
    assert_eq!(named, "sleep\ncat\n", "what the hook names, and nothing else");
    fs::write(&ran, "").unwrap();
    run("--hook-after=true");
    let gone = mindful.on_private("cleanup --yes").env("PATH", &path).output().unwrap();
    assert!(gone.status.success(), "{}", message(&gone));
    assert_eq!(fs::read_to_string(&ran).unwrap(), "");
}

#[test]
fn a_disk_too_small_for_a_new_server_is_named_as_the_cause() {
    let mindful = Mindful::new();
    for mib in [4, 20, 38, 46] {
        let Some(small) = SmallDisk::private(mib) else { return };
        let data = format!("--data-dir={}", small.data().display());
        let refused = mindful.run(format!("load {data} --schemas=1 --scale=2MiB"));
        let said = message(&refused);
        let line = said.lines().last().unwrap_or_default();
        assert!(!refused.status.success(), "{mib} MiB: {said}");
        assert!(line.contains("No space left on device"), "{mib} MiB: {said}");
    }
}
