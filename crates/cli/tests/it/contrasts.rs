//! A contrast on a server of the user's own leaves that server as it was.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::lies::bench::Bench;
use crate::lies::server::UsersServer;

/// CPUs that the first process of a server may run on, as the kernel writes them.
fn cpus(pid: u32) -> String {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
}

#[test]
fn a_contrast_never_moves_a_server_it_did_not_start() {
    let bench = Bench::new();
    let server = UsersServer::at(&bench.path("users"), "shared_buffers=64MB");
    let before = cpus(server.pid());
    let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
    command.args(["contrast", "--format", "json", "--repeat", "1", "--schemas", "1", "--scale", "64MiB"]);
    command.args(["--sessions", "2", "--warmup", "200ms", "--duration", "500ms"]);
    let mut command = bench.at_home(command);
    let home = command.get_current_dir().unwrap().canonicalize().unwrap();
    std::fs::write(home.join("mindful.toml"), format!("target = \"{}\"\n", server.url())).unwrap();
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
    let mut seen = vec![before.clone()];
    while !waiting.is_finished() {
        seen.push(cpus(server.pid()));
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = waiting.join().unwrap();
    seen.push(cpus(server.pid()));
    seen.dedup();
    assert_eq!(seen, [before], "the user's server stays where it was");
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    assert_eq!(ran["contrast"]["pinned"], Value::Null, "{ran:#}");
    assert_eq!(ran["contrast"]["all_cores"].as_array().unwrap().len(), 5, "{ran:#}");
    let findings = ran["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "one-core-left-out"), "{findings:#?}");
    let mut show = Command::new(env!("CARGO_BIN_EXE_mindful"));
    show.arg("show");
    let shown = bench.at_home(show).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let plan = home.join("mindful.toml").display().to_string();
    assert_eq!(ran["plan_file"], plan.as_str());
    assert!(shown.lines().next().unwrap().contains(&plan), "{shown}");
    assert!(shown.contains("one-core-left-out") && !shown.contains("\none core"), "{shown}");
}
