//! Contrasts on a private PostgreSQL and on a server of the user's own.

use std::time::Duration;

use mindful_conformance::place;
use serde_json::Value;

use crate::mindful::processes::status;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{HOOKS, Mindful, assert_hooks_ran, codes, figure, json};

#[test]
fn a_contrast_never_moves_a_server_it_did_not_start() {
    let mindful = Mindful::beside_others(place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=64MB");
    let cpus = || status(server.pid(), "Cpus_allowed_list").unwrap();
    let before = cpus();
    let home = mindful.path(".").canonicalize().unwrap();
    std::fs::write(home.join("mindful.toml"), format!("target = \"{}\"\n", server.url())).unwrap();
    let contrast = |duration| {
        let short = format!("--schemas 1 --scale 64MiB --sessions 2 --warmup 200ms --duration {duration}");
        let child = mindful.start_piped(("contrast --format json --repeat 1", short));
        let waiting = std::thread::spawn(move || child.wait_with_output().unwrap());
        let mut seen = vec![before.clone()];
        while !waiting.is_finished() {
            seen.push(cpus());
            std::thread::sleep(Duration::from_millis(20));
        }
        let output = waiting.join().unwrap();
        seen.push(cpus());
        seen.dedup();
        assert_eq!(seen, std::slice::from_ref(&before), "the user's server stays where it was");
        json(&output)
    };
    let whole = |ran: &Value| ran["contrast"]["all_cores"].as_array().is_some_and(|levels| levels.len() == 5);
    let ran = ["500ms", "2s"].into_iter().map(contrast).find(whole).unwrap_or_else(|| contrast("5s"));
    assert_eq!(ran["contrast"]["pinned"], Value::Null, "{ran:#}");
    assert_eq!(ran["contrast"]["all_cores"].as_array().unwrap().len(), 5, "{ran:#}");
    assert!(codes(&ran).contains(&"level-left-out"), "{ran:#}");
    let shown = mindful.text("show");
    let plan = home.join("mindful.toml").display().to_string();
    assert_eq!(ran["plan_file"], plan.as_str());
    assert!(shown.lines().next().unwrap().contains(&plan), "{shown}");
    assert!(shown.contains("level-left-out") && !shown.contains("\none core"), "{shown}");
}

#[test]
fn a_contrast_measures_every_level_on_one_core_and_on_all() {
    let mindful = Mindful::beside_others(place()).with_private();
    // Long enough that its one session is at work in it on a full host too.
    let small = "--schemas 2 --scale 16MiB --sessions 1 --warmup 100ms --think-time 5ms..5ms";
    let measured =
        |duration| mindful.private_json((format!("contrast --repeat 1 --duration {duration}"), small, HOOKS));
    // On a full host a session may not get to work in a short window, or its CPU counters may be read too late.
    let all_known = |ran: &Value| {
        let levels = ["pinned", "all_cores"].map(|cores| ran["contrast"][cores].as_array().unwrap().clone()).concat();
        let of_each = levels.len() == 12 && levels.iter().all(|level| level["cpu_us_per_block"].is_number());
        of_each && ["storage_us", "cpu_us", "waits_us"].iter().all(|part| ran["contrast"]["added"][part].is_number())
    };
    let ran = ["800ms", "2s"].into_iter().map(measured).find(all_known).unwrap_or_else(|| measured("5s"));
    assert_hooks_ran(&mindful.run_folder(&ran));
    let contrast = &ran["contrast"];
    for cores in ["pinned", "all_cores"] {
        let levels = contrast[cores].as_array().unwrap();
        let names: Vec<_> = levels.iter().map(|level| level["rung"].as_str().unwrap()).collect();
        assert_eq!(names.len(), 6, "{names:?}");
        assert!(levels.iter().all(|level| figure(level, "cpu_us_per_block") > 0.0), "{contrast:#}");
    }
    let eta = figure(contrast, "eta");
    let iops = |level: usize| figure(&contrast["all_cores"][level], "iops");
    assert!((eta / (iops(4) / iops(0)) - 1.0).abs() < 0.01, "eta is of the levels next to it: {contrast:#}");
    assert_eq!(contrast["eta_interval"], Value::Null, "{contrast:#}");
    let parts = ["storage_us", "cpu_us", "waits_us"].map(|part| figure(&contrast["added"], part));
    let sum: f64 = parts.iter().sum();
    assert!((sum - figure(contrast, "added_us_per_block")).abs() < 0.01, "the parts add up: {contrast:#}");
    mindful.shows(
        "show --full",
        "one core…all cores…database, cached…ratio of database to raw: …one round has no interval",
    );
}

#[test]
fn commits_are_compared_with_bare_durable_writes() {
    let mindful = Mindful::beside_others(place()).with_private();
    let small = "--schemas 1 --scale 16MiB --sessions 2 --warmup 200ms --duration 1s";
    let ran = mindful.private_json(("contrast --commits --repeat 1", small));
    let commits = &ran["commits"];
    let rows: Vec<_> = commits["rows"].as_array().unwrap().iter().collect();
    let name_of = |row: &Value| (row["name"].as_str().unwrap().to_owned(), row["sessions"].as_u64().unwrap());
    let names: Vec<_> = rows.iter().map(|row| name_of(row)).collect();
    let bare = ["fdatasync", "O_DSYNC", "O_DSYNC and O_DIRECT", "append and fdatasync"];
    let bare = bare.map(|way| (format!("bare, {way}"), 1));
    let ladder = ["raw, fdatasync", "database"].map(|way| [1, 2].map(|load| (way.to_owned(), load)));
    assert_eq!(names, [&bare[..], &ladder.concat()].concat(), "{commits:#}");
    let rate = |at: usize| figure(rows[at], "commits_per_s");
    assert!((figure(commits, "ratio") / (rate(6) / rate(0)) - 1.0).abs() < 0.01, "{commits:#}");
    assert_eq!(commits["ratio_interval"], Value::Null);
    // Each bare write has a sync of its own; O_DSYNC has none.
    for at in [0, 3, 4, 5] {
        assert!((figure(rows[at], "commits_per_sync") - 1.0).abs() < 0.1, "{commits:#}");
    }
    assert_eq!(rows[1]["commits_per_sync"], Value::Null);
    // Bare overwrites are of one block.
    let blocks: Vec<_> = ran["steps"].as_array().unwrap().iter().map(|step| step["scale"].as_u64()).collect();
    assert_eq!((&blocks[..3], blocks[4]), (&[Some(1); 3][..], Some(2_048)), "{blocks:?}");
    assert!(!codes(&ran).contains(&"level-left-out") && !codes(&ran).contains(&"not-durable"), "{ran:#}");
    let shown = mindful.text("show");
    assert!(shown.starts_with("ratio of commits to bare writes with fdatasync, one session: "), "{shown}");
    mindful.shows("export --as svg --chart commits", "bare, fdatasync…database");
    let folder = mindful.private_folder();
    assert!(!folder.join("commits.raw").exists() && folder.join("mindful.mark").exists());
}
