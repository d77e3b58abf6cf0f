//! One run on several targets: sessions over them, each with its figures, and their sum.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_conformance::{not_run, quick_place};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::mindful::processes::{all, command_line};
use crate::mindful::quiet::Quiet;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{
    Mindful, PAUSES, Words, assert_has, codes, ended, figure, json, message, printed, refused, wait_until,
};
use crate::ranks::processes::{has_mpirun, mpirun, parts, sessions_and_ranks};

const FILES: &str = "--target sqlite:a.db --target sqlite:b.db";
const SMALL: &str = "--schemas 2 --scale 2MiB --sessions 4 --work-unit 8";
const SHORT: &str = "--warmup 1s --duration 2s -q";

const LONG: &str = "--warmup 1s --duration 60s -q";

fn on_files(mindful: &Mindful, more: impl Words) -> Command {
    mindful.command(("run", FILES, (SMALL, more)))
}

/// The number of folders that processes left in `folder`.
fn left(folder: &Path) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

fn targets(summary: &Value) -> &Vec<Value> {
    summary["steps"][0]["targets"].as_array().unwrap()
}

/// The figure of the run is the sum of those of its targets, because their windows nearly coincide. It is unknown if
/// that of one target is, as on a busy machine that reads a counter too late.
fn adds_up(summary: &Value, figure: &str) -> Option<f64> {
    let all = summary["steps"][0][figure].as_f64();
    let parts: Option<f64> = targets(summary).iter().map(|target| target["step"][figure].as_f64()).sum();
    match (all, parts) {
        (Some(all), Some(parts)) => {
            assert!(parts > 0.0 && (all / parts - 1.0).abs() < 0.05, "{figure}: {all} of {parts}: {summary:#}");
        }
        (all, parts) => assert!(all.is_none(), "{figure}: {all:?} of {parts:?}: {summary:#}"),
    }
    all
}

#[test]
fn two_files_are_one_run_and_each_has_its_own_figures() {
    let _beside = Quiet::beside();
    let (mindful, private) = (Mindful::new(), tempfile::tempdir().unwrap());
    let ran = on_files(&mindful, (SHORT, "--format json")).env("TMPDIR", private.path()).output().unwrap();
    assert!(ended(&ran) && ran.stderr.is_empty(), "{ran:?}");
    assert_eq!(left(private.path()), 0, "nothing is left where they met");
    let mut summary = json(&ran);
    let step = &summary["steps"][0];
    assert_eq!(sessions_and_ranks(step), (Some(4), Some(2)));
    assert_eq!(summary["target"], "sqlite:a.db, sqlite:b.db");
    let of_target = |target: &Value| (target["target"].clone(), target["step"]["sessions"].clone());
    let of_targets: Vec<_> = targets(&summary).iter().map(of_target).collect();
    assert_eq!(of_targets, ["sqlite:a.db", "sqlite:b.db"].map(|name| (name.into(), 2.into())));
    for figure in ["blocks_visited_per_s", "logical_reads_per_s"] {
        adds_up(&summary, figure);
    }
    let count = |step: &Value| figure(&step["ops"]["select"], "count");
    let parts: f64 = targets(&summary).iter().map(|target| count(&target["step"])).sum();
    assert!((count(step) / parts - 1.0).abs() < 0.05, "{summary:#}");
    // Both files lie on one device.
    assert_eq!(step["device_reads_per_s"], Value::Null);
    assert!(codes(&summary).contains(&"targets-share-host"), "{summary:#}");
    mindful.shows("show", "1 sqlite:a.db…2 sqlite:b.db");
    mindful.shows("export --as html", "2 sqlite:b.db");
    let text = printed(&mindful.run("export --as jsonl --redact"));
    assert!(text.contains("on_target") && !text.contains("a.db") && !text.contains("b.db"), "{text}");
    mindful.refuses("run --again latest", "has 2 targets");
    merged_again(&mindful, &mut summary);
}

/// `mindful merge` of the folders of both ranks gives the figures that the first rank printed.
fn merged_again(mindful: &Mindful, summary: &mut Value) {
    let [a, b] = &parts(&mindful.runs())[..] else { panic!("two parts") };
    let mut again = mindful.json(("merge", a, b));
    for summary in [&mut *summary, &mut again] {
        assert_ne!(summary["id"].take(), Value::Null);
        assert_ne!(summary["started_at"].take(), Value::Null);
    }
    assert!(*summary == again, "the same figures to the last digit");
}

#[test]
fn a_plan_shows_the_ranks_and_sessions_of_each_target() {
    let mindful = Mindful::new();
    let plan = |more: &str| mindful.text(("plan --sessions 8", FILES, more));
    assert_has(plan(""), "target 2: sqlite:b.db, rank 1, sessions 5 to 8\n");
    let text = plan("--target-weights 3,1 --rank 2 --ranks 4");
    assert_has(&text, "target 1: sqlite:a.db, ranks 0 to 1, sessions 1 to 6\n…rank: 2 of 4,…session 7 of 8");
    assert_has(&text, "target 2: sqlite:b.db, ranks 2 to 3, sessions 7 to 8\n");
}

#[test]
fn targets_that_cannot_be_measured_together_are_refused() {
    let mindful = Mindful::new();
    mindful.refuses_all([
        ("run --target sqlite:a.db --target null:", "targets of different engines (sqlite, null)"),
        ("run --target sqlite:a.db --target sqlite:a.db", "sqlite:a.db is given twice"),
    ]);
    for (args, why) in [
        ("run --target-weights 1,2,3", "3 weights for 2 targets"),
        ("run --sessions 1", "1 session for 2 ranks"),
        ("run --rank 0 --ranks 2 --target sqlite:c.db", "3 targets for 2 ranks"),
        ("run --meet dir:meet", "--meet: mindful starts the ranks of its 2 targets itself"),
    ] {
        mindful.refuses((args, FILES), why);
    }
    for verb in ["sweep", "load", "cleanup", "doctor", "run --repeat 2", "verify", "watch"] {
        mindful.refuses((verb, FILES), "--target: 2 targets: only `mindful run` takes several");
    }
    assert!(!mindful.path("a.db").exists(), "nothing was opened");
}

#[test]
fn ranks_with_other_targets_are_refused_without_a_password() {
    let mindful = Mindful::new();
    let start = |(rank, target)| {
        let meet = format!("--rank {rank} --ranks 2 --job unlike --meet dir:meet");
        mindful.start_piped((format!("run -q --target postgres://me:secret@[::1]:1/{target}"), meet))
    };
    for rank in [(0, "a"), (1, "b")].map(start) {
        let output = rank.wait_with_output().unwrap();
        let refusal = refused(&output);
        assert_has(&refusal, "rank 1 on … has another --target than rank 0");
        assert!(!refusal.contains("secret"), "{refusal}");
    }
}

#[test]
fn a_list_file_is_read_only_if_no_other_user_can_write_it() {
    let mindful = Mindful::new();
    let file = mindful.path("fleet");
    let write = |text: &str, mode: u32| {
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
    };
    write("# shards\nsqlite:a.db\n\nsqlite:b.db # the other\n", 0o644);
    let plan = "plan --target @fleet --sessions 8";
    mindful.shows(plan, "target 2: sqlite:b.db, rank 1, sessions 5 to 8\n");
    write("postgres://me:secret@a/x\npostgres://me:secret@b/x\n", 0o644);
    mindful.refuses(plan, "it contains a password, and other users may read it");
    write("postgres://me:secret@a/x\npostgres://me:secret@b/x\n", 0o600);
    let text = printed(&mindful.succeed(plan));
    assert!(text.contains("target 2: postgres://") && !text.contains("secret"), "{text}");
    write("sqlite:a.db\n", 0o666);
    mindful.refuses(plan, "other users may write it");
    write("# nothing\n", 0o644);
    mindful.refuses(plan, "it contains no target");
    write("sqlite:a.db\n", 0o644);
    if std::os::unix::fs::chown(&file, Some(12_345), None).is_err() {
        return not_run("it needs root to give a file to another user");
    }
    mindful.refuses(plan, "it belongs to user 12345");
}

fn has_children(parent: u32) -> bool {
    let flag = format!("--started-by\0{parent}\0");
    all().any(|pid| command_line(pid).contains(&flag))
}

#[test]
fn the_end_of_the_first_rank_ends_all_and_leaves_nothing() {
    let _beside = Quiet::beside();
    for signal in [Signal::KILL, Signal::INT] {
        let (mindful, private) = (Mindful::new(), tempfile::tempdir().unwrap());
        let mut long = on_files(&mindful, LONG);
        long.env("TMPDIR", private.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut first = long.spawn().unwrap();
        wait_until("its rank never comes", || has_children(first.id()));
        std::thread::sleep(Duration::from_secs(2));
        kill_process(Pid::from_child(&first), signal).unwrap();
        let ended = first.wait().unwrap();
        assert_eq!(ended.code(), (signal == Signal::INT).then_some(130), "{ended:?}");
        wait_until("a rank lives on", || !has_children(first.id()));
        wait_until("the folder stays", || left(private.path()) == 0);
    }
}

/// Two databases of one server: it counts for both together.
fn one_server_twice(mindful: &Mindful, server: &UsersServer) {
    server.sql("CREATE DATABASE other");
    let (url, (_, _, database)) = (server.url(), server.place());
    let other = format!("{}other", url.strip_suffix(database).unwrap());
    let summary = mindful.json((format!("run --target {url} --target {other}"), SMALL, (SHORT, PAUSES)));
    assert_eq!(summary["steps"][0]["logical_reads_per_s"], Value::Null);
    let codes = codes(&summary);
    assert!(codes.contains(&"targets-share-server") && summary["validity"] != "valid", "{codes:?}");
    adds_up(&summary, "blocks_visited_per_s");
}

#[test]
fn two_servers_add_up_by_weight_and_one_that_dies_is_named() {
    let place = quick_place();
    let servers = ["a", "b"].map(|name| UsersServer::of(&place.path().join(name), &[]));
    let _beside = Quiet::beside();
    let mindful = Mindful::new();
    let urls = servers.each_ref().map(UsersServer::url);
    // The one session of the second visits so much that other reads of its server are few in comparison.
    let weights = "--target-weights 3,1 --think-time 20ms..20ms";
    let both = format!("run --target {} --target {} {weights} {SMALL}", urls[0], urls[1]);
    let ran = mindful.run((&both, SHORT, "--format json"));
    let progress = message(&ran);
    assert!(ended(&ran), "{progress}");
    let summary = json(&ran);
    let sessions: Vec<_> = targets(&summary).iter().map(|target| target["step"]["sessions"].as_u64()).collect();
    assert_eq!(sessions, [Some(3), Some(1)], "{progress}");
    for figure in ["blocks_visited_per_s", "logical_reads_per_s"] {
        assert!(adds_up(&summary, figure).is_some(), "{figure}: {summary:#}");
    }
    // Each server counted only its own work.
    for target in targets(&summary) {
        let ratio = figure(&target["step"], "logical_reads_per_s") / figure(&target["step"], "blocks_visited_per_s");
        assert!((0.9..1.6).contains(&ratio), "{target:#}");
    }
    one_server_twice(&mindful, &servers[0]);
    let first = mindful.start_piped((&both, LONG));
    let busy = "SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL %'";
    wait_until("no session works on the second one", || servers[1].count(busy) > 0);
    std::thread::sleep(Duration::from_secs(2));
    // An immediate end: sessions are cut off.
    let second = Pid::from_raw(i32::try_from(servers[1].pid()).unwrap()).unwrap();
    kill_process(second, Signal::QUIT).unwrap();
    let output = first.wait_with_output().unwrap();
    let message = message(&output);
    assert!(!output.status.success() && message.lines().count() == 1, "{message}");
    assert_has(&message, "rank 1 on …: target 2, postgres");
}

#[test]
fn mpirun_starts_four_ranks_of_two_targets() {
    if !has_mpirun() {
        return;
    }
    let _beside = Quiet::beside();
    let mindful = Mindful::new();
    let rank = on_files(&mindful, (SHORT, "--meet dir:meet --format json"));
    let output = mpirun(&rank).output().unwrap();
    let summary = json(&output);
    let of_targets: Vec<_> = targets(&summary).iter().map(|target| sessions_and_ranks(&target["step"])).collect();
    assert_eq!(of_targets, [(Some(2), Some(2)); 2], "{summary:#}");
    adds_up(&summary, "logical_reads_per_s");
}
