//! Several processes as ranks of one run: which one each is, and which part of the work is its own.

use std::process::Child;
use std::time::{Duration, Instant};

use mindful_conformance::quick_place;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::mindful::quiet::Quiet;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, assert_has, codes, edit_record, figure, json_lines, kill, message, wait_until};
use crate::ranks::processes::{
    Ranks, four_ranks_of, has_mpirun, launched, mpirun, outcome, rank_of, report_of, sessions_and_ranks, start_ranks,
    three_seconds_ahead,
};

#[test]
fn four_processes_are_one_run_and_merge_gives_the_same() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let children: Vec<Child> = (0..4).map(|rank| ranks.start(rank, 4, "--format json")).collect();
    let mut all: Vec<_> = children.into_iter().map(outcome).collect();
    let (code, report, message) = all.remove(0);
    assert_eq!((code, &*message), (Some(0), ""), "{report}");
    for (rank, (code, report, message)) in all.into_iter().enumerate() {
        assert_eq!((code, &*report, message.lines().count()), (Some(0), "", 1), "{message}");
        assert_has(message, format!("mindful: rank {} of 4: 2 sessions, …rank 0 has the report", rank + 1));
    }
    assert!(ranks.left_nothing());
    let mut merged: Value = serde_json::from_str(&report).unwrap();
    let parts = [3, 2, 1, 0].map(|rank| ranks.part(rank).display().to_string());
    let mut again = ranks.mindful.json(("merge", parts.to_vec()));
    for summary in [&mut merged, &mut again] {
        summary["id"] = Value::Null;
    }
    assert_eq!(merged, again, "the same figures to the last digit");
    let step = &merged["steps"][0];
    let sum = |name: &str| step["ranks"].as_array().unwrap().iter().map(|rank| figure(rank, name)).sum::<f64>();
    let (shares, used) = (sum("ops_share"), sum("client_cores"));
    assert_eq!(sessions_and_ranks(step), (Some(8), Some(4)));
    assert!((shares - 1.0).abs() < 1e-9 && used > 0.0, "{step:#}");
    assert!((figure(&step["cpu"], "client_cores") - used).abs() < 1e-9, "{step:#}");
    let part = ranks.mindful.json(("show latest --store", ranks.store(2)));
    assert!(codes(&part).contains(&"part-of-run") && part["validity"] != "valid", "{part:#}");
    ranks.mindful.refuses(("merge", parts[1..].to_vec()), "rank 3 is missing");
}

#[test]
fn a_merge_of_folders_executes_nothing() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let touched = ranks.mindful.path("touched");
    let hook = format!("--hook-end 'touch {}'", touched.display());
    report_of(vec![ranks.start(0, 2, ("--format json", &hook)), ranks.start(1, 2, &hook)], &[0]);
    std::fs::remove_file(&touched).unwrap();
    ranks.mindful.succeed(("merge", ranks.part(0), ranks.part(1)));
    ranks.mindful.refuses("run --again latest", "made elsewhere");
    assert_has(message(&ranks.mindful.run("run --again latest --target null:")), "hook_end");
    assert!(!touched.exists());
}

#[test]
fn no_number_of_a_hostile_part_breaks_its_merge() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    report_of((0..2).map(|rank| ranks.start(rank, 2, "--format json")).collect(), &[0, 1]);
    let logs = [0, 1].map(|rank| ranks.part(rank).join("run.jsonl"));
    let whole = logs.clone().map(|log| std::fs::read_to_string(log).unwrap());
    // Merges both parts with this value in their lines of ranks.
    let merged = |key: &str, value: &Value| {
        for (log, whole) in logs.iter().zip(&whole) {
            std::fs::write(log, whole).unwrap();
            edit_record(log, |event| {
                if event["event"] == "rank" {
                    event[key] = value.clone();
                }
            });
        }
        let began = Instant::now();
        let output = ranks.mindful.run(("merge", ranks.part(0), ranks.part(1)));
        let message = message(&output);
        let answered = matches!(output.status.code(), Some(0..=3)) && !message.contains("panicked");
        assert!(answered && began.elapsed() < Duration::from_secs(20), "{key} {value}: {output:?}");
        message
    };
    let most = u64::from(u32::MAX);
    for key in ["rank", "ranks", "first_session", "sessions"] {
        for number in [0, 3, 10_001, most] {
            merged(key, &number.into());
        }
    }
    for number in [i64::MIN, 0, i64::MAX] {
        merged("start_us", &number.into());
    }
    for [first, ranks, targets] in [[0, most, 2], [most, most, most], [1, 1, 2], [0, 2, 0]] {
        let on = serde_json::json!({"target": 0, "targets": targets, "first_rank": first, "ranks": ranks});
        merged("on_target", &on);
    }
    assert_has(merged("ranks", &most.into()), "4,294,967,295 ranks, and no run has more than 10,000");
}

#[test]
fn a_killed_rank_ends_all_in_one_line_and_leaves_nothing() {
    let _beside = Quiet::beside();
    // Before the others join, when all are ready, in the window and in the merge of the first rank: several jobs at
    // once.
    let jobs: [(&str, u32, &str, i32); 4] = [
        ("early", 2, "joined", 3),
        ("window", 1, "ready", 1),
        ("first", 0, "start_us", 1),
        ("merge", 0, "start_us", 1),
    ];
    std::thread::scope(|scope| {
        for (name, killed, stage, expected) in jobs {
            scope.spawn(move || {
                let ranks = Ranks::new();
                let mut children: Vec<(u32, Child)> = vec![(killed, ranks.start(killed, 3, ""))];
                if name == "early" {
                    ranks.await_row(killed, stage);
                    children[0].1.kill().unwrap();
                }
                let others = (0..3).filter(|rank| *rank != killed);
                children.extend(others.map(|rank| (rank, ranks.start(rank, 3, ""))));
                if name != "early" {
                    ranks.await_row(killed, stage);
                    // The start is decided, and the warm-up or the window continues.
                    ranks.await_row(0, "start_us");
                    std::thread::sleep(Duration::from_millis(500));
                    if name == "merge" {
                        // It waits for the part of a stopped rank, and has that of the other.
                        let held = Pid::from_child(&children[2].1);
                        kill_process(held, Signal::STOP).unwrap();
                        ranks.await_row(1, "measured");
                        kill_process(Pid::from_child(&children[0].1), Signal::KILL).unwrap();
                        kill_process(held, Signal::CONT).unwrap();
                    }
                    let _ = children[0].1.kill();
                }
                let gone = format!("rank {killed} on ");
                for (rank, child) in children {
                    let (code, report, message) = outcome(child);
                    if rank == killed {
                        continue;
                    }
                    let ended = (code, &*report, message.lines().count());
                    assert_eq!(ended, (Some(expected), "", 1), "{name}, rank {rank}: {message}");
                    assert_has(message, format!("{gone}… is gone: it did not renew its row for 8 s"));
                }
                assert!(ranks.left_nothing(), "{name}");
            });
        }
    });
}

#[test]
fn a_rank_with_a_wrong_clock_begins_with_the_others() {
    let Some(faketime) = three_seconds_ahead() else { return };
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let right = ranks.start(0, 2, "--format json");
    let wrong = launched(faketime, &ranks.command(1, 2, "--format json")).spawn().unwrap();
    let summary = report_of(vec![right, wrong], &[0]);
    let step = &summary["steps"][0];
    assert!(figure(step, "duration_s") > 1.5, "one window for both: {step:#}");
    assert!((-3_100.0..-2_900.0).contains(&figure(&step["ranks"][1], "clock_offset_ms")), "{step:#}");
    assert!(codes(&summary).contains(&"clocks-apart"), "{summary:#}");
    let events = json_lines(&std::fs::read_to_string(ranks.part(1).join("run.jsonl")).unwrap());
    let recorded = events.iter().find(|event| event["event"] == "rank").unwrap();
    assert!((-3_100_000.0..-2_900_000.0).contains(&figure(recorded, "clock_offset_us")), "{recorded}");
}

#[test]
fn ranks_share_a_real_server_and_one_of_them_loads() {
    let place = quick_place();
    let server = UsersServer::of(&place.path().join("data"), &[]);
    let _beside = Quiet::beside();
    let mindful = Mindful::new();
    let url = server.url();
    let size = "--schemas 2 --scale 8MiB --sessions 6 --work-unit 8 --think-time 20ms..20ms --warmup 1s --duration 2s";
    let children = start_ranks(&mindful, 3, (format!("run -q --format json --target {url}"), size));
    let summary = report_of(children, &[0]);
    let step = &summary["steps"][0];
    assert_eq!(step["sessions"], 6);
    // The server counted the work of all three: its logical reads are those of all sessions.
    let ratio = figure(step, "logical_reads_per_s") / figure(step, "blocks_visited_per_s");
    assert!((0.9..1.6).contains(&ratio), "{step:#}");
    assert_eq!(server.count("SELECT FROM mindful.meeting"), 0, "nothing is left where they met");
    let loads = std::fs::read_dir(mindful.runs()).unwrap().flatten().filter(|run| {
        let log = std::fs::read_to_string(run.path().join("run.jsonl")).unwrap();
        log.lines().any(|line| line.contains("\"event\":\"loaded\"") && !line.contains("\"load_s\":null"))
    });
    assert_eq!(loads.count(), 2, "the first rank's part, and what was merged of it");
    // The remains of a dead job are removed with the rest.
    let mut dead = mindful.command(format!("run --target {url} -q --rank 1 --ranks 3")).spawn().unwrap();
    wait_until("it never comes", || server.count("SELECT FROM mindful.meeting") > 0);
    kill(&mut dead);
    mindful.succeed(format!("cleanup --yes --target {url}"));
    assert_eq!(server.count("SELECT FROM pg_class WHERE relname IN ('meeting', 'blocks_1')"), 0);
}

#[test]
fn mpirun_starts_four_ranks_of_one_run() {
    if !has_mpirun() {
        return;
    }
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let rank = ranks.mindful.command(rank_of(["--meet", &ranks.meet, "--format", "json"]));
    let output = mpirun(&rank).output().unwrap();
    four_ranks_of(&output);
    assert!(ranks.left_nothing());
}
