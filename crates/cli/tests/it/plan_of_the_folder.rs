//! The plan file of the current folder is read by itself only where nobody else can have written it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Output;

use mindful_conformance::not_run;

use crate::mindful::Mindful;

const NOBODY: u32 = 65_534;

fn plan(mindful: &Mindful, text: &str) {
    fs::write(mindful.folder().join("mindful.toml"), text).unwrap();
    mode(&mindful.folder().join("mindful.toml"), 0o644);
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A short run that goes where the plan says.
fn run(mindful: &Mindful, args: &[&str]) -> Output {
    mindful.run(&[&["run", "--scale", "1000", "--warmup", "0s", "--duration", "1s"], args].concat())
}

/// The one line of a refusal with exit code 2.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(output.stdout.is_empty() && text.lines().count() == 1, "{output:?}");
    text
}

#[test]
fn a_plan_others_could_have_written_is_not_read_by_itself() {
    let mindful = Mindful::new();
    let file = mindful.folder().join("mindful.toml");
    plan(&mindful, "target = \"null:\"\n");
    for writable in [0o664, 0o646] {
        mode(&file, writable);
        assert!(refused(&run(&mindful, &[])).contains("others may write it"));
    }
    mode(&file, 0o600);
    mode(mindful.folder(), 0o777);
    assert!(refused(&run(&mindful, &[])).contains("others may write its folder"));
    // As in /tmp, where nobody removes or renames what is of others.
    mode(mindful.folder(), 0o1777);
    assert!(mindful.run(&["plan"]).status.success());
    mode(mindful.folder(), 0o700);
    fs::hard_link(&file, mindful.folder().join("other.toml")).unwrap();
    assert!(refused(&run(&mindful, &[])).contains("another name"));
    fs::remove_file(&file).unwrap();
    symlink("other.toml", &file).unwrap();
    assert!(refused(&run(&mindful, &[])).contains("symbolic link"));
    assert!(mindful.run(&["plan", "--plan", "other.toml"]).status.success(), "a plan that is named is read");
}

#[test]
fn a_plan_of_another_user_is_not_read_by_itself() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root can give files away");
    }
    let mindful = Mindful::new();
    let file = mindful.folder().join("mindful.toml");
    plan(&mindful, "target = \"null:\"\n");
    chown(&file, Some(NOBODY), None).unwrap();
    let told = refused(&run(&mindful, &["--target", "null:"]));
    assert!(told.contains("mindful.toml") && told.contains("belongs to user 65534"), "{told}");
    chown(&file, Some(0), None).unwrap();
    chown(mindful.folder(), Some(NOBODY), None).unwrap();
    assert!(refused(&run(&mindful, &[])).contains("its folder belongs to user 65534"));
    assert!(!mindful.folder().join("runs").exists(), "nothing is measured");
}

#[test]
fn a_plan_read_by_itself_executes_and_destroys_nothing() {
    let mindful = Mindful::new();
    for line in [
        "hook_before = \"touch touched\"",
        "hook_after = \"touch touched\"",
        "hook_end = \"touch touched\"",
        "hook_timeout = \"1s\"",
        "hook_failure = \"warn\"",
        "pg_bin = \"/bin\"",
        "fetch_dir = \"/tmp\"",
        "data_dir = \"/tmp\"",
        "run_as = \"nobody\"",
        "set = \"archive_command=touch touched\"",
        "destroy_data = \"/dev/null\"",
    ] {
        plan(&mindful, &format!("target = \"null:\"\n{line}\n"));
        let told = refused(&run(&mindful, &[]));
        let key = line.split(' ').next().unwrap();
        assert!(told.contains(key) && told.contains("--plan mindful.toml"), "{told}");
    }
    assert!(!mindful.folder().join("touched").exists());
    plan(&mindful, "target = \"null:\"\nhook_before = \"touch touched\"\n");
    run(&mindful, &["--plan", "mindful.toml"]);
    assert!(mindful.folder().join("touched").exists(), "a plan that is named may run hooks");
}

#[test]
fn a_plan_read_by_itself_is_named_in_every_first_line() {
    let mindful = Mindful::new();
    plan(&mindful, "target = \"null:\"\n");
    let first = |text: &[u8]| String::from_utf8_lossy(text).lines().next().unwrap_or_default().to_owned();
    let place = fs::canonicalize(mindful.folder()).unwrap().join("mindful.toml").display().to_string();
    let short = ["--scale", "1000", "--warmup", "0s", "--duration", "1s"];
    for verb in [&["run"][..], &["sweep", "--sessions", "1,2"], &["load"], &["plan"], &["doctor"], &["watch"]] {
        let output = mindful.run(&[verb, &short].concat());
        assert!(first(&output.stdout).contains(&place), "{verb:?}: {output:?}");
        let output = mindful.run(&[verb, &["--work-unit", "none"]].concat());
        assert!(refused(&output).contains(&place), "{verb:?}: {output:?}");
    }
    assert!(first(&mindful.run(&["cleanup", "--yes"]).stdout).contains(&place));
    assert!(first(&mindful.run(&["show"]).stdout).contains(&place), "it stays with what is stored");
    fs::rename(mindful.folder().join("mindful.toml"), mindful.folder().join("named.toml")).unwrap();
    let output = mindful.run(&[&["run", "--plan", "named.toml"][..], &short].concat());
    assert!(!first(&output.stdout).contains("read by itself"), "{output:?}");
}

#[test]
fn a_plan_that_is_a_pipe_or_a_device_is_refused_at_once() {
    let mindful = Mindful::new();
    let pipe = mindful.folder().join("mindful.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    assert!(refused(&run(&mindful, &[])).contains("no regular file"));
    for named in ["mindful.toml", "/dev/zero"] {
        assert!(refused(&run(&mindful, &["--plan", named])).contains("no regular file"));
        assert!(refused(&mindful.run(&["import", named])).contains("no regular file"));
    }
}

#[test]
fn variables_of_a_service_called_mindful_are_ignored_and_told() {
    let mindful = Mindful::new();
    let told = |name: &str, value: &str| {
        let mut command = mindful.command(&["plan", "--target", "null:"]);
        command.env("MINDFUL_SERVICE_HOST", "10.0.0.11").env("MINDFUL_PORT_5432_TCP_ADDR", "10.0.0.11");
        command.env(name, value).output().unwrap()
    };
    let output = told("MINDFUL_PORT", "tcp://10.0.0.11:5432");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && text.lines().count() == 1, "{output:?}");
    assert!(text.contains("MINDFUL_PORT, MINDFUL_PORT_5432_TCP_ADDR, MINDFUL_SERVICE_HOST"), "{text}");
    assert!(refused(&told("MINDFUL_PORT", "5432")).contains("MINDFUL_PORT"));
    assert!(refused(&told("MINDFUL_SESIONS", "4")).contains("MINDFUL_SESSIONS"));
}
