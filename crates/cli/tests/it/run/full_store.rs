//! An unwritable store is refused before any target is opened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mindful_conformance::{not_run, own_mounts};

use crate::mindful::{Mindful, ended, message, null};

const SHORT: [&str; 8] = ["--schemas", "1", "--scale", "1000", "--warmup", "0s", "--duration", "1s"];

/// All verbs that open a target to measure it, each with a target that it would make.
fn measures(mindful: &Mindful, store: &Path) -> Vec<(Output, PathBuf)> {
    let here = |name: &str| mindful.path(name);
    let (database, file, server) = (here("made.db"), here("made.raw"), here("made"));
    let sqlite = format!("sqlite:{}", database.display());
    let raw = format!("raw:{}", file.display());
    fs::write(here("plan.toml"), format!("target = \"{sqlite}\"\nscale = 1000\nwarmup = \"0s\"\nduration = \"1s\"\n"))
        .unwrap();
    let verbs: [&[&str]; 5] =
        [&["run"], &["load"], &["sweep", "--sessions", "1,2"], &["run", "--repeat", "2"], &["contrast"]];
    let store = ["--store", store.to_str().unwrap()];
    let of = |args: &[&str], target: &[&str], short: &[&str]| mindful.run(&[args, &store, target, short].concat());
    let mut all = Vec::new();
    for verb in verbs {
        all.push((of(verb, &["--target", &sqlite], &SHORT), database.clone()));
        all.push((of(verb, &["--data-dir", server.to_str().unwrap()], &SHORT), server.clone()));
    }
    all.push((of(&["raw"], &["--target", &raw], &SHORT), file.clone()));
    all.push((of(&["raw", "--preset", "simple"], &["--target", &raw], &SHORT), file));
    all.push((of(&["compare", "--run", "plan.toml", "plan.toml"], &[], &[]), database));
    all
}

/// Each prints one line that the store cannot be written, and makes nothing.
fn refused_untouched(all: Vec<(Output, PathBuf)>, why: &str) {
    assert_eq!(all.len(), 13);
    for (output, made) in all {
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let refusal = message(&output);
        assert_eq!(refusal.lines().count(), 1, "{refusal}");
        let explained = refusal.contains("cannot be written") && refusal.contains(why);
        assert!(explained && refusal.contains("--store"), "{refusal}");
        assert!(!made.exists(), "{} was opened first", made.display());
    }
}

#[test]
fn a_store_that_cannot_be_written_is_refused_before_the_load() {
    let mindful = Mindful::new();
    fs::write(mindful.path("file"), "").unwrap();
    refused_untouched(measures(&mindful, Path::new("file")), "Not a directory");
}

#[test]
fn a_full_store_is_refused_before_the_target_is_opened() {
    if !own_mounts() {
        return;
    }
    let mindful = Mindful::new();
    let store = mindful.path("store");
    fs::create_dir(&store).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]).arg(&store).output().unwrap();
    if !mounted.status.success() {
        return not_run(&format!("it mounts a file system: {}", message(&mounted)));
    }
    assert!(fs::write(store.join("fill"), vec![1; 8 << 20]).is_err(), "the file system is larger than thought");
    refused_untouched(measures(&mindful, &store), "No space left");
    fs::remove_file(store.join("fill")).unwrap();
    let ran = mindful.run(&null("run", &["--store", store.to_str().unwrap()]));
    assert!(ended(&ran), "with room it runs: {ran:?}");
    assert!(Command::new("umount").arg(&store).status().unwrap().success());
}
