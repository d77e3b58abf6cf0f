//! Tests that need more than every machine and user provide: a tool, the network, a process or mounts of their own.

use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Set by the gate if it runs as root: then each test must run.
const ALL_MUST_RUN: &str = "ALL_TESTS_MUST_RUN";

/// The number of an account that each system has and that does not run tests. Root can give files to it; the plain user
/// of the gate cannot.
pub const STRANGER: u32 = 1;

/// Prints one line that the calling test did not run, and why; then the test returns. The line bypasses the capture of
/// test output and begins with `NOT RUN`, which the gate counts. Under `ALL_TESTS_MUST_RUN` the test fails instead.
pub fn not_run(why: &str) {
    let thread = std::thread::current();
    let line = format!("NOT RUN {}: {}\n", thread.name().unwrap_or_default(), why.lines().next().unwrap_or_default());
    assert!(std::env::var_os(ALL_MUST_RUN).is_none(), "{line}");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
}

/// The path of a reader from `.ci/tools`; if it is missing, prints a notice and returns `None`.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").join(name);
    if path.exists() {
        return Some(path);
    }
    not_run(&format!("no target/tools/{name} here: .ci/tools fetches it"));
    None
}

/// The same for one that is a folder, once it is complete.
pub fn whole_tool(name: &str) -> Option<PathBuf> {
    tool(&format!("{name}/.whole"))?.parent().map(Path::to_owned)
}

/// Time limit for a host's answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether `url`, or the proxy that the environment names for it, is reachable. If not, prints that the calling test did
/// not run.
pub fn network(url: &str) -> bool {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let proxy = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].into_iter().find_map(variable);
    let url = proxy.as_deref().unwrap_or(url);
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if scheme == "https" { ":443" } else { ":80" };
    let way = format!("{host}{}", if has_port { "" } else { port });
    let mut addresses = way.to_socket_addrs().into_iter().flatten();
    let open = addresses.any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok());
    if !open {
        not_run(&format!("{way} is not reachable from here"));
    }
    open
}

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
