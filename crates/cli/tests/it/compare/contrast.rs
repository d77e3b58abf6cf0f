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
    let home = bench.path(".").canonicalize().unwrap();
    std::fs::write(home.join("mindful.toml"), format!("target = \"{}\"\n", server.url())).unwrap();
    let contrast = |duration| {
        let small = ["contrast", "--format", "json", "--repeat", "1", "--schemas", "1", "--scale", "64MiB"];
        let short = ["--sessions", "2", "--warmup", "200ms", "--duration", duration];
        let mut command = bench.command(&[&small[..], &short].concat());
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
        assert_eq!(seen, std::slice::from_ref(&before), "the user's server stays where it was");
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    };
    // On a full host a session may not get to work in a short window.
    let whole = |ran: &Value| ran["contrast"]["all_cores"].as_array().is_some_and(|rungs| rungs.len() == 5);
    let ran = ["500ms", "2s"].into_iter().map(contrast).find(whole).unwrap_or_else(|| contrast("5s"));
    assert_eq!(ran["contrast"]["pinned"], Value::Null, "{ran:#}");
    assert_eq!(ran["contrast"]["all_cores"].as_array().unwrap().len(), 5, "{ran:#}");
    let findings = ran["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "level-left-out"), "{findings:#?}");
    let mut show = Command::new(env!("CARGO_BIN_EXE_mindful"));
    show.arg("show");
    let shown = bench.at_home(show).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    let plan = home.join("mindful.toml").display().to_string();
    assert_eq!(ran["plan_file"], plan.as_str());
    assert!(shown.lines().next().unwrap().contains(&plan), "{shown}");
    assert!(shown.contains("level-left-out") && !shown.contains("\none core"), "{shown}");
}
