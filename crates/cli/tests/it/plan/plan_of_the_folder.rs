//! The plan file of the current folder is found automatically, and refused if another user may have written it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;

use mindful_conformance::not_run;
use serde_json::Value;

use crate::mindful::{Mindful, assert_has, message, refused};

const NOBODY: u32 = 65_534;

fn plan(mindful: &Mindful, text: &str) {
    fs::write(mindful.path("mindful.toml"), text).unwrap();
    mode(&mindful.path("mindful.toml"), 0o644);
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A short run with the target of the plan.
const RUN: &str = "run --scale 1000 --warmup 0s --duration 1s";

#[test]
fn a_plan_that_others_could_have_written_is_refused() {
    let mindful = Mindful::new();
    let file = mindful.path("mindful.toml");
    plan(&mindful, "target = \"null:\"\n");
    for writable in [0o664, 0o646] {
        mode(&file, writable);
        mindful.refuses(RUN, "other users may write it");
    }
    mode(&file, 0o600);
    mode(mindful.folder(), 0o777);
    mindful.refuses(RUN, "other users may write its folder");
    // As in /tmp, where users cannot remove or rename files of others.
    mode(mindful.folder(), 0o1777);
    mindful.succeed("plan");
    mode(mindful.folder(), 0o700);
    fs::hard_link(&file, mindful.path("other.toml")).unwrap();
    mindful.refuses(RUN, "more than one name");
    fs::remove_file(&file).unwrap();
    symlink("other.toml", &file).unwrap();
    mindful.refuses(RUN, "symbolic link");
    // A plan that is named is read.
    mindful.succeed("plan --plan other.toml");
}

#[test]
fn a_plan_in_utf_16_or_with_a_byte_order_mark_is_read() {
    let mindful = Mindful::new();
    let text = "\u{feff}target = \"null:\"\nscale = 1234\n";
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [text.as_bytes().to_vec(), utf16] {
        fs::write(mindful.folder().join("windows.toml"), bytes).unwrap();
        mindful.shows("plan --plan windows.toml", "1234");
    }
}

#[test]
fn a_plan_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root can give files away");
    }
    let mindful = Mindful::new();
    let file = mindful.path("mindful.toml");
    plan(&mindful, "target = \"null:\"\n");
    chown(&file, Some(NOBODY), None).unwrap();
    mindful.refuses((RUN, "--target null:"), "mindful.toml…belongs to user 65534");
    chown(&file, Some(0), None).unwrap();
    chown(mindful.folder(), Some(NOBODY), None).unwrap();
    mindful.refuses(RUN, "its folder belongs to user 65534");
    assert!(!mindful.runs().exists(), "nothing is measured");
}

#[test]
fn a_found_plan_executes_and_destroys_nothing() {
    let mindful = Mindful::new();
    for line in [
        "hook_before = \"touch touched\"",
        "hook_after = \"touch touched\"",
        "hook_end = \"touch touched\"",
        "hook_timeout = \"1s\"",
        "hook_failure = \"warn\"",
        "pg_bin = \"/bin\"",
        "fetch_dir = \"/tmp\"",
        "fetch_url = \"https://localhost/\"",
        "data_dir = \"/tmp\"",
        "run_as = \"nobody\"",
        "set = \"archive_command=touch touched\"",
        "destroy_data = \"/dev/null\"",
    ] {
        plan(&mindful, &format!("target = \"null:\"\n{line}\n"));
        let key = line.split(' ').next().unwrap();
        mindful.refuses(RUN, format!("{key}…--plan mindful.toml"));
    }
    assert!(!mindful.path("touched").exists());
    plan(&mindful, "target = \"null:\"\nhook_before = \"touch touched\"\n");
    mindful.run((RUN, "--plan mindful.toml"));
    assert!(mindful.path("touched").exists(), "a plan that is named may run hooks");
}

/// A plan of the folder for a short run; its path as reports name it.
fn short_plan(mindful: &Mindful, target: &str) -> String {
    // Sessions that other tests delay begin within the warm-up.
    let short = "scale = 1000\nwarmup = \"500ms\"\nduration = \"1s\"\nschemas = 1\n";
    // Slow enough that other tests do not affect them.
    let slow = if target == "null:" { "sessions = 2\nnull_latency = \"10ms\"\n" } else { "" };
    plan(mindful, &format!("target = \"{target}\"\n{short}{slow}"));
    fs::canonicalize(mindful.folder()).unwrap().join("mindful.toml").display().to_string()
}

fn first_line(text: &[u8]) -> String {
    String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned()
}

/// All verbs that read a plan and print something, without and with JSON.
const PLANNED: &str = "run|sweep --sessions 1,2|run --repeat 2|load|plan|doctor|watch --duration 1s";
/// All verbs that show runs of such a plan.
const STORED: [&str; 5] =
    ["show", "show --explain verdict", "show --heat-map", "compare --force a b", "compare --force --history a b"];

/// Two runs with tags `a` and `b`, by the plan of the folder.
fn two_runs(mindful: &Mindful) {
    for tag in ["a", "b"] {
        mindful.text(format!("run --tag {tag}"));
    }
}

#[test]
fn a_found_plan_is_named_in_every_first_line() {
    let mindful = Mindful::new();
    let place = short_plan(&mindful, "null:");
    two_runs(&mindful);
    for verb in PLANNED.split('|').chain(STORED).chain(["run --explain verdict", "cleanup --yes"]) {
        let output = mindful.run(verb);
        assert!(first_line(&output.stdout).contains(&place), "{verb:?}: {output:?}");
    }
    for verb in PLANNED.split('|').chain(["run --explain verdict", "contrast", "cleanup"]) {
        mindful.refuses((verb, "--work-unit none"), &place);
    }
    // Files have no options of the null engine: a line says so first.
    let raw = mindful.run("raw x --work-unit none");
    let named: Vec<bool> = message(&raw).lines().map(|line| line.contains(&place)).collect();
    assert_eq!((raw.status.code(), &named[..]), (Some(2), &[true, true][..]), "{raw:?}");
    fs::rename(mindful.path("mindful.toml"), mindful.path("named.toml")).unwrap();
    let output = mindful.run("run --plan named.toml");
    assert!(!first_line(&output.stdout).contains("found automatically"), "{output:?}");
}

#[test]
fn a_found_plan_is_named_in_every_json() {
    let mindful = Mindful::new();
    let place = short_plan(&mindful, "null:");
    two_runs(&mindful);
    let more = ["show", "show a", "export --as json"];
    for verb in PLANNED.split('|').chain(more) {
        let text = mindful.text((verb, "--format json"));
        // A watch prints a value a line.
        let whole = if verb.starts_with("watch") { text.lines().next().unwrap() } else { &text };
        let output: Value = serde_json::from_str(whole).unwrap_or_else(|error| panic!("{verb:?} {error}: {text}"));
        assert_eq!(output["plan_file"], place.as_str(), "{verb:?}");
    }
    for (verb, run) in [(STORED[3], "/runs/candidate/0"), (STORED[4], "/runs/1"), ("list", "/0")] {
        let output = mindful.json(verb);
        assert_eq!(output.pointer(run).unwrap()["plan_file"], place.as_str(), "{output:#}");
    }
    fs::rename(mindful.path("mindful.toml"), mindful.path("named.toml")).unwrap();
    let named = mindful.json("run --plan named.toml");
    assert!(named.get("plan_file").is_none(), "{named:#}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_new_proof_names_the_found_plan() {
    let mindful = Mindful::new();
    let place = short_plan(&mindful, "sqlite:made.db");
    mindful.succeed("load");
    assert!(first_line(&mindful.run("verify").stdout).contains(&place));
    assert_eq!(mindful.json("verify")["plan_file"], place.as_str());
}

#[cfg(feature = "raw")]
#[test]
fn a_job_on_files_names_the_found_plan() {
    let mindful = Mindful::new();
    let place = short_plan(&mindful, "raw:made");
    for job in ["raw --duration 200ms", "raw --duration 200ms --preset simple --num-small 1"] {
        let output = mindful.run(job);
        assert!(first_line(&output.stdout).contains(&place), "{job:?}: {output:?}");
        let summary = mindful.json(job);
        assert_eq!(summary["plan_file"], place.as_str(), "{job:?}");
    }
}

#[test]
fn a_plan_that_is_a_pipe_or_a_device_is_refused_at_once() {
    let mindful = Mindful::new();
    let pipe = mindful.path("mindful.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    mindful.refuses(RUN, "not a regular file");
    for named in ["mindful.toml", "/dev/zero"] {
        mindful.refuses((RUN, ["--plan", named]), "not a regular file");
        mindful.refuses(["import", named], "not a regular file");
    }
}

#[test]
fn service_variables_of_kubernetes_are_ignored_with_a_note() {
    let mindful = Mindful::new();
    let planned = |name: &str, value: &str| {
        let mut command = mindful.command("plan --target null:");
        command.env("MINDFUL_SERVICE_HOST", "10.0.0.11").env("MINDFUL_PORT_5432_TCP_ADDR", "10.0.0.11");
        command.env(name, value).output().unwrap()
    };
    let output = planned("MINDFUL_PORT", "tcp://10.0.0.11:5432");
    assert!(output.status.success() && message(&output).lines().count() == 1, "{output:?}");
    assert_has(message(&output), "MINDFUL_PORT, MINDFUL_PORT_5432_TCP_ADDR, MINDFUL_SERVICE_HOST");
    assert_has(refused(&planned("MINDFUL_PORT", "5432")), "MINDFUL_PORT");
    assert_has(refused(&planned("MINDFUL_SESIONS", "4")), "did you mean `MINDFUL_SESSIONS`?");
}
