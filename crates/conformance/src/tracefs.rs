//! Tests that need tracefs, or that it is missing, whatever the machine has mounted.

use std::process::Command;

use crate::not_run;

/// Set in the process that runs a test again.
const AGAIN: &str = "TEST_IN_OWN_MOUNTS";

/// Whether the calling test may go on, with tracefs mounted. The first call runs the test again, in a process whose mounts
/// nobody else sees, and is false: the test returns then. Takes root.
#[must_use]
pub fn with_tracefs() -> bool {
    in_own_mounts("mount -t tracefs nodev /sys/kernel/tracing")
}

/// The same, with tracefs mounted nowhere.
#[must_use]
pub fn without_tracefs() -> bool {
    in_own_mounts("umount -a -t tracefs,debugfs")
}

fn in_own_mounts(change: &str) -> bool {
    if std::env::var_os(AGAIN).is_some() {
        return true;
    }
    let test = std::thread::current().name().expect("a test's thread has its name").to_owned();
    let script = format!("{change} || exit 1; exec \"$0\" --exact \"$1\" --nocapture");
    let mut again = Command::new("unshare");
    again.args(["--mount", "sh", "-c", &script]).arg(std::env::current_exe().expect("this test's program"));
    match again.arg(&test).env(AGAIN, "1").output() {
        Ok(ran) if ran.status.success() => {}
        Ok(ran) if ran.status.code() == Some(1) => not_run(&String::from_utf8_lossy(&ran.stderr)),
        Ok(ran) => panic!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr)),
        Err(error) => not_run(&format!("unshare: {error}")),
    }
    false
}
