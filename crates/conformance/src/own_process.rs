//! Tests that need a separate process, and private mounts.

use std::io::Write as _;
use std::process::Command;

use crate::not_run;

const AGAIN: &str = "TEST_IN_OWN_PROCESS";

/// Whether the calling test may continue, because it is alone in its process. The first call runs the test again in a
/// separate process and returns false; then the test returns.
#[must_use]
pub fn own_process() -> bool {
    again(&["env"])
}

/// The same, in private mounts. Needs root.
#[must_use]
pub fn own_mounts() -> bool {
    in_own_mounts(":")
}

/// The same, with tracefs mounted. Needs root.
#[must_use]
pub fn with_tracefs() -> bool {
    in_own_mounts("mount -t tracefs nodev /sys/kernel/tracing")
}

/// The same, without tracefs. Needs root.
#[must_use]
pub fn without_tracefs() -> bool {
    in_own_mounts("umount -a -t tracefs,debugfs")
}

/// The same, with private shared memory and processes. Needs root.
#[must_use]
pub fn with_own_memory() -> bool {
    let mounted = "mount -t tmpfs nodev /dev/shm || exit 1; exec \"$0\" \"$@\"";
    again(&["unshare", "--mount", "--ipc", "--pid", "--fork", "--mount-proc", "sh", "-c", mounted])
}

fn in_own_mounts(change: &str) -> bool {
    again(&["unshare", "--mount", "sh", "-c", &format!("{change} || exit 1; exec \"$0\" \"$@\"")])
}

/// The output of another test program, indented so that no line resembles one of this program.
fn indented(printed: &[u8]) -> String {
    format!("    {}\n", String::from_utf8_lossy(printed).replace('\n', "\n    "))
}

/// Runs only the calling test in a new process, through `wrapper`, which exits with 1 if it lacks the privilege.
fn again(wrapper: &[&str]) -> bool {
    if std::env::var_os(AGAIN).is_some() {
        return true;
    }
    let test = std::thread::current().name().expect("a test's thread has its name").to_owned();
    let program = std::env::current_exe().expect("this test's program");
    let mut command = Command::new(wrapper[0]);
    command.args(&wrapper[1..]).arg(program).args(["--exact", &test, "--nocapture"]).env(AGAIN, "1");
    match command.output() {
        Ok(ran) if ran.status.success() => {
            // Bypasses the capture of output, like a line of `not_run`.
            std::io::stderr().write_all(&ran.stderr).expect("stderr can be written");
        }
        Ok(ran) if ran.status.code() == Some(1) => not_run(&String::from_utf8_lossy(&ran.stderr)),
        Ok(ran) => panic!("{}{}", indented(&ran.stdout), indented(&ran.stderr)),
        Err(error) => not_run(&format!("{}: {error}", wrapper[0])),
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_another_program_is_not_taken_as_our_own() {
        let printed = indented(b"test a ... FAILED\n\ntest result: FAILED. 0 passed; 1 failed\n");
        assert!(
            printed.contains("test a ... FAILED") && printed.lines().all(|line| line.starts_with("    ")),
            "{printed}"
        );
    }
}
