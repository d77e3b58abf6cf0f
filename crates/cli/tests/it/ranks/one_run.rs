//! Several processes as ranks of one run: which one each is, and which part of the work is its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::{not_run, quick_place};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::lies::server::UsersServer;
use crate::mindful::alone::Quiet;
use crate::mindful::{Mindful, json, refused};

const PLAN: [&str; 5] = ["plan", "--target", "null:", "--sessions", "32"];

fn planned(mindful: &Mindful, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    mindful.command(&[&PLAN[..], flags].concat()).envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn a_plan_tells_which_rank_it_is_and_which_sessions_are_its_own() {
    let mindful = Mindful::new();
    let slurm = [("SLURM_PROCID", "2"), ("SLURM_NTASKS", "4"), ("SLURM_STEP_ID", "0"), ("SLURM_JOB_ID", "17")];
    let text = String::from_utf8(planned(&mindful, &[], &slurm).stdout).unwrap();
    let line = "rank: 2 of 4, counted from 0 (SLURM_PROCID, SLURM_NTASKS), sessions 17 to 24 of 32";
    assert!(text.lines().any(|reported| reported == line), "{text}");
    let job = planned(&mindful, &["--ranks", "3", "--format", "json"], &[("JOB_COMPLETION_INDEX", "0")]);
    let rank = &json(&job)["rank"];
    assert_eq!((rank["rank"].as_u64(), rank["sessions"].as_u64()), (Some(0), Some(10)), "{rank}");
    let alone = String::from_utf8(planned(&mindful, &[], &[]).stdout).unwrap();
    assert!(!alone.contains("rank:"), "{alone}");
}

#[test]
fn a_rank_that_contradicts_or_has_nothing_to_do_is_refused() {
    let mindful = Mindful::new();
    let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
    let reported = refused(&planned(&mindful, &["--rank", "3"], &mpi));
    assert!(
        reported.contains("--rank says 3, and the launcher 1") && reported.contains("leave --rank away"),
        "{reported}"
    );
    let reported = refused(&planned(&mindful, &["--rank", "3", "--ranks", "64"], &[]));
    assert!(
        reported.contains("32 sessions for 64 ranks") && reported.contains("give --sessions 64 or more"),
        "{reported}"
    );
    let reported = refused(&planned(&mindful, &[], &[("JOB_COMPLETION_INDEX", "1")]));
    assert!(reported.contains("nobody says of how many") && reported.contains("--ranks N"), "{reported}");
}

#[test]
fn verbs_of_one_process_refuse_what_a_launcher_started() {
    let mindful = Mindful::new();
    let null = "target = \"null:\"\n";
    for name in ["a.toml", "b.toml"] {
        std::fs::write(mindful.folder().join(name), null).unwrap();
    }
    let verbs: [&[&str]; 5] = [
        &["sweep", "--target", "null:", "--sessions", "1,2"],
        &["noise", "--target", "null:"],
        &["compare", "--run", "a.toml", "b.toml"],
        &["contrast", "--target", "null:"],
        &["raw", "blocks", "--scale", "8MiB"],
    ];
    for verb in verbs {
        let mpi = [("OMPI_COMM_WORLD_RANK", "1"), ("OMPI_COMM_WORLD_SIZE", "4")];
        let reported = refused(&mindful.command(verb).envs(mpi).output().unwrap());
        let wanted = "rank 1 of 4 (OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE): ranks share one step";
        assert!(reported.contains(wanted) && reported.contains("--ranks 1 to each"), "{verb:?}: {reported}");
        let pod = refused(&mindful.command(verb).env("JOB_COMPLETION_INDEX", "0").output().unwrap());
        assert!(pod.contains("--ranks 1 for a run of its own"), "{verb:?}: {pod}");
    }
    assert!(!mindful.folder().join("blocks").exists(), "nothing was made");
}

/// A small plan on nothing, whose ranks meet in a folder.
pub const RUN: [&str; 14] = [
    "run",
    "-q",
    "--target",
    "null:",
    "--scale",
    "1000",
    "--sessions",
    "8",
    "--null-latency",
    "10ms",
    "--warmup",
    "1s",
    "--duration",
    "2s",
];

/// Ranks of one job, as processes.
pub struct Ranks {
    pub mindful: Mindful,
    pub meet: String,
}

impl Ranks {
    pub fn new() -> Self {
        let mindful = Mindful::new();
        let meet = format!("dir:{}", mindful.folder().join("meet").display());
        Self { mindful, meet }
    }

    /// One rank as an indexed Job starts it, with a store of its own.
    fn command(&self, rank: u32, of: u32, more: &[&str]) -> Command {
        let of = of.to_string();
        let mut command = self.mindful.command(&[&RUN[..], &["--ranks", &of, "--meet", &self.meet], more].concat());
        command.env("JOB_COMPLETION_INDEX", rank.to_string()).env("MINDFUL_STORE", self.store(rank));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn store(&self, rank: u32) -> PathBuf {
        self.mindful.folder().join(format!("store-{rank}"))
    }

    fn start(&self, rank: u32, of: u32, more: &[&str]) -> Child {
        self.command(rank, of, more).spawn().unwrap()
    }

    /// Waits until a rank has come so far that its row holds `text`.
    fn await_row(&self, rank: u32, text: &str) {
        let meet = self.mindful.folder().join("meet");
        let row = || {
            let job = std::fs::read_dir(&meet).ok()?.flatten().find(|job| job.path().is_dir())?;
            std::fs::read_to_string(job.path().join(format!("rank-{rank}"))).ok()
        };
        let until = Instant::now() + Duration::from_mins(1);
        while !row().is_some_and(|row| row.contains(text)) {
            assert!(Instant::now() < until, "rank {rank} never says {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Whether nothing is left where they met, but for the file that a rank wrote to learn the time when it was killed: that
    /// goes with a later job.
    pub fn left_nothing(&self) -> bool {
        let meet = std::fs::read_dir(self.mindful.folder().join("meet")).unwrap();
        meet.flatten().all(|left| left.path().is_file() && left.file_name().to_string_lossy().starts_with(".mindful-"))
    }

    /// The folder of the run that a rank stored first.
    fn part(&self, rank: u32) -> String {
        let mut runs: Vec<_> = std::fs::read_dir(self.store(rank).join("runs")).unwrap().flatten().collect();
        runs.retain(|run| {
            let log = std::fs::read_to_string(run.path().join("run.jsonl")).unwrap();
            log.matches("\"event\":\"rank\"").count() == 1
        });
        runs[0].path().to_str().unwrap().to_owned()
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}

pub fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn four_processes_are_one_run_and_merge_gives_the_same() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let children: Vec<Child> = (0..4).map(|rank| ranks.start(rank, 4, &["--format", "json"])).collect();
    let mut all: Vec<_> = children.into_iter().map(ended).collect();
    let (code, report, reported) = all.remove(0);
    assert_eq!((code, &*reported), (Some(0), ""), "{report}");
    for (rank, (code, report, reported)) in all.into_iter().enumerate() {
        assert_eq!((code, &*report), (Some(0), ""), "{reported}");
        assert!(reported.starts_with(&format!("mindful: rank {} of 4: 2 sessions, ", rank + 1)), "{reported}");
        assert!(reported.lines().count() == 1 && reported.contains("rank 0 has the report"), "{reported}");
    }
    assert!(ranks.left_nothing());
    let mut merged: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(merged["steps"][0]["sessions"], 8);
    let parts: Vec<String> = (0..4).map(|rank| ranks.part(rank)).collect();
    let names: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    let mut again = json(&ranks.mindful.run(&[&["merge", "--format", "json"], &names[..]].concat()));
    for summary in [&mut merged, &mut again] {
        summary["id"] = Value::Null;
    }
    assert_eq!(merged, again, "the same figures to the last digit");
    let step = &merged["steps"][0];
    let reported = step["ranks"].as_array().unwrap();
    let shares: f64 = reported.iter().filter_map(|rank| rank["ops_share"].as_f64()).sum();
    let used: f64 = reported.iter().filter_map(|rank| rank["client_cores"].as_f64()).sum();
    assert!(reported.len() == 4 && (shares - 1.0).abs() < 1e-9, "{step:#}");
    assert!(used > 0.0 && (step["cpu"]["client_cores"].as_f64().unwrap() - used).abs() < 1e-9, "{step:#}");
    let show = ["show", "latest", "--format", "json"];
    let part = json(&ranks.mindful.command(&show).env("MINDFUL_STORE", ranks.store(2)).output().unwrap());
    let codes: Vec<&str> = part["findings"].as_array().unwrap().iter().filter_map(|f| f["code"].as_str()).collect();
    assert!(codes.contains(&"part-of-run") && part["validity"] != "valid", "{part:#}");
    let missing = refused(&ranks.mindful.run(&[&["merge"], &names[1..]].concat()));
    assert!(missing.contains("rank 3 is missing"), "{missing}");
}

#[test]
fn what_is_merged_from_folders_executes_nothing() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let touched = ranks.mindful.folder().join("touched");
    let hook = format!("--hook-end=touch {}", touched.display());
    for child in [0, 1].map(|rank| ranks.start(rank, 2, &[&hook])) {
        let (code, _, reported) = ended(child);
        assert_eq!(code, Some(0), "{reported}");
    }
    std::fs::remove_file(&touched).unwrap();
    let parts = [0, 1].map(|rank| ranks.part(rank));
    let merged = ranks.mindful.run(&["merge", &parts[0], &parts[1]]);
    assert!(merged.status.success(), "{merged:?}");
    let reported = refused(&ranks.mindful.run(&["rerun", "latest"]));
    assert!(reported.contains("made elsewhere"), "{reported}");
    let again = ranks.mindful.run(&["rerun", "latest", "--target", "null:"]);
    assert!(String::from_utf8_lossy(&again.stderr).contains("hook_end"), "{again:?}");
    assert!(!touched.exists());
}

#[test]
fn no_number_of_a_hostile_part_breaks_its_merge() {
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let children: Vec<Child> = (0..2).map(|rank| ranks.start(rank, 2, &[])).collect();
    for child in children {
        let (code, _, reported) = ended(child);
        assert!(matches!(code, Some(0 | 1)), "{reported}");
    }
    let logs = [0, 1].map(|rank| PathBuf::from(ranks.part(rank)).join("run.jsonl"));
    let whole = logs.clone().map(|log| std::fs::read_to_string(log).unwrap());
    // Both parts with this in their lines of ranks.
    let merged = |key: &str, value: &Value| {
        for (log, whole) in logs.iter().zip(&whole) {
            let lines = whole.lines().map(|line| {
                let mut event: Value = serde_json::from_str(line).unwrap();
                if event["event"] == "rank" {
                    event[key] = value.clone();
                }
                event.to_string() + "\n"
            });
            std::fs::write(log, lines.collect::<String>()).unwrap();
        }
        let began = Instant::now();
        let output = ranks.mindful.run(&["merge", &ranks.part(0), &ranks.part(1)]);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        let answered = matches!(output.status.code(), Some(0..=3)) && !reported.contains("panicked");
        assert!(answered && began.elapsed() < Duration::from_secs(20), "{key} {value}: {output:?}");
        reported
    };
    let most = u64::from(u32::MAX);
    for key in ["rank", "of", "first_session", "sessions"] {
        for number in [0, 3, 10_001, most] {
            merged(key, &number.into());
        }
    }
    for number in [i64::MIN, 0, i64::MAX] {
        merged("start_us", &number.into());
    }
    for [first, ranks, targets] in [[0, most, 2], [most, most, most], [1, 1, 2], [0, 2, 0]] {
        let on = serde_json::json!({"target": 0, "targets": targets, "first_rank": first, "ranks": ranks});
        merged("on", &on);
    }
    let refused = merged("of", &most.into());
    assert!(refused.contains("4294967295 ranks, and no run has more than 10000"), "{refused}");
}

#[test]
fn a_killed_rank_ends_all_in_one_line_and_leaves_nothing() {
    let _beside = Quiet::beside();
    // Before the others have come, when all are ready, the first rank in the window and in its merge: jobs beside each other.
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
                let mut children: Vec<(u32, Child)> = vec![(killed, ranks.start(killed, 3, &[]))];
                if name == "early" {
                    ranks.await_row(killed, stage);
                    children[0].1.kill().unwrap();
                }
                let others = (0..3).filter(|rank| *rank != killed);
                children.extend(others.map(|rank| (rank, ranks.start(rank, 3, &[]))));
                if name != "early" {
                    ranks.await_row(killed, stage);
                    // The start is decided, and the warm-up or the window goes on.
                    ranks.await_row(0, "start_us");
                    std::thread::sleep(Duration::from_millis(500));
                    if name == "merge" {
                        // It waits for the part of one that is held, and has that of the other.
                        let held = pid(&children[2].1);
                        kill_process(held, Signal::STOP).unwrap();
                        ranks.await_row(1, "measured");
                        kill_process(pid(&children[0].1), Signal::KILL).unwrap();
                        kill_process(held, Signal::CONT).unwrap();
                    }
                    let _ = children[0].1.kill();
                }
                let gone = format!("rank {killed} on ");
                for (rank, child) in children {
                    let (code, report, reported) = ended(child);
                    if rank == killed {
                        continue;
                    }
                    assert_eq!((code, &*report), (Some(expected), ""), "{name}, rank {rank}: {reported}");
                    assert!(
                        reported.lines().count() == 1 && reported.contains(&gone),
                        "{name}, rank {rank}: {reported}"
                    );
                    assert!(reported.contains(" is gone: it gave no sign for 8 s"), "{name}, rank {rank}: {reported}");
                }
                assert!(ranks.left_nothing(), "{name}");
            });
        }
    });
}

#[test]
fn a_rank_whose_clock_is_wrong_begins_with_the_others() {
    if !Path::new("/usr/bin/faketime").exists() {
        not_run("it needs faketime (Debian: faketime)");
        return;
    }
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let right = ranks.start(0, 2, &["--format", "json"]);
    let reported = ranks.command(1, 2, &["--format", "json"]);
    let mut wrong = Command::new("/usr/bin/faketime");
    wrong.args(["-f", "+3s"]).arg(reported.get_program()).args(reported.get_args()).current_dir(ranks.mindful.folder());
    wrong.envs(reported.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("NO_FAKE_STAT", "1");
    // What waits go by is another clock, which nobody sets.
    wrong.env("FAKETIME_DONT_FAKE_MONOTONIC", "1").env("DONT_FAKE_MONOTONIC", "1");
    let wrong = wrong.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (code, report, reported) = ended(right);
    assert_eq!(code, Some(0), "{reported} {report}");
    assert_eq!(ended(wrong).0, Some(0));
    let summary = serde_json::from_str::<Value>(&report).unwrap();
    let step = &summary["steps"][0];
    assert!(step["duration_s"].as_f64().unwrap() > 1.5, "one window for both: {step:#}");
    let reported_ms = step["ranks"][1]["clock_offset_ms"].as_f64().unwrap();
    assert!((-3_100.0..-2_900.0).contains(&reported_ms), "{step:#}");
    assert!(summary["findings"].as_array().unwrap().iter().any(|f| f["code"] == "clocks-apart"), "{summary:#}");
    let log = std::fs::read_to_string(Path::new(&ranks.part(1)).join("run.jsonl")).unwrap();
    let line = log.lines().find(|line| line.contains("\"event\":\"rank\"")).unwrap();
    let record: Value = serde_json::from_str(line).unwrap();
    let offset_us = record["clock_offset_us"].as_i64().unwrap();
    assert!((-3_100_000..-2_900_000).contains(&offset_us), "{record}");
}

#[test]
fn ranks_share_a_real_server_and_one_of_them_loads() {
    let place = quick_place();
    let server = UsersServer::of(&place.path().join("data"), &[]);
    let _beside = Quiet::beside();
    let mindful = Mindful::new();
    let url = server.url();
    let children: Vec<Child> = (0..3_u32)
        .map(|rank| {
            let size = [
                "--schemas",
                "2",
                "--scale",
                "8MiB",
                "--sessions",
                "6",
                "--work-unit",
                "8",
                "--think-time",
                "20ms..20ms",
            ];
            let time = ["--warmup", "1s", "--duration", "2s", "--format", "json", "-q", "--ranks", "3"];
            let mut command = mindful.command(&[&["run", "--target", &url], &size[..], &time[..]].concat());
            command.env("JOB_COMPLETION_INDEX", rank.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let mut all: Vec<_> = children.into_iter().map(ended).collect();
    let (code, report, reported) = all.remove(0);
    assert_eq!(code, Some(0), "{reported} {report}");
    assert!(all.iter().all(|(code, report, _)| *code == Some(0) && report.is_empty()), "{all:?}");
    let summary: Value = serde_json::from_str(&report).unwrap();
    let step = &summary["steps"][0];
    assert_eq!(step["sessions"], 6);
    // The server counted what all three did: its logical reads are those of all sessions.
    let ratio = step["logical_reads_per_s"].as_f64().unwrap() / step["blocks_visited_per_s"].as_f64().unwrap();
    assert!((0.9..1.6).contains(&ratio), "{step:#}");
    assert_eq!(server.count("SELECT FROM mindful.meeting"), 0, "nothing is left where they met");
    let loads = std::fs::read_dir(mindful.folder().join("runs")).unwrap().flatten().filter(|run| {
        let log = std::fs::read_to_string(run.path().join("run.jsonl")).unwrap();
        log.lines().any(|line| line.contains("\"event\":\"loaded\"") && !line.contains("\"load_s\":null"))
    });
    assert_eq!(loads.count(), 2, "the first rank's part, and what was merged of it");
    // What a job leaves whose ranks are all dead goes with the rest.
    let mut dead = mindful.command(&["run", "--target", &url, "-q", "--rank", "1", "--ranks", "3"]).spawn().unwrap();
    let until = Instant::now() + Duration::from_mins(1);
    while server.count("SELECT FROM mindful.meeting") == 0 {
        assert!(Instant::now() < until, "it never comes");
        std::thread::sleep(Duration::from_millis(50));
    }
    dead.kill().unwrap();
    dead.wait().unwrap();
    let cleaned = mindful.run(&["cleanup", "--yes", "--target", &url]);
    assert!(cleaned.status.success(), "{cleaned:?}");
    assert_eq!(server.count("SELECT FROM pg_class WHERE relname IN ('meeting', 'blocks_1')"), 0);
}

/// What a launcher's four ranks reported together: one run of eight sessions, and a line of each rank but the first.
pub fn four_ranks_of(output: &Output) -> Value {
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reported}");
    let summary = json(output);
    let step = &summary["steps"][0];
    assert_eq!((step["sessions"].as_u64(), step["ranks"].as_array().map(Vec::len)), (Some(8), Some(4)), "{reported}");
    let lines = reported.lines().filter(|line| line.contains(" of 4: 2 sessions, "));
    assert_eq!(lines.count(), 3, "each other rank has a line: {reported}");
    summary
}

#[test]
fn mpirun_starts_four_ranks_of_one_run() {
    if !Path::new("/usr/bin/mpirun").exists() {
        not_run("it needs mpirun (Debian: openmpi-bin)");
        return;
    }
    let _beside = Quiet::beside();
    let ranks = Ranks::new();
    let rank = ranks.mindful.command(&[&RUN[..], &["--meet", &ranks.meet, "--format", "json"]].concat());
    let output = mpirun(&rank).output().unwrap();
    four_ranks_of(&output);
    assert!(ranks.left_nothing());
}

/// Starts four ranks of `rank` as `mpirun` does.
pub fn mpirun(rank: &Command) -> Command {
    let mut mpirun = Command::new("/usr/bin/mpirun");
    mpirun.args(["--oversubscribe", "-n", "4"]).arg(rank.get_program()).args(rank.get_args());
    mpirun.envs(rank.get_envs().filter_map(|(name, value)| Some((name, value?))));
    mpirun.current_dir(rank.get_current_dir().unwrap_or(Path::new(".")));
    mpirun.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1").stdin(Stdio::null());
    mpirun
}

#[test]
fn each_launcher_gets_a_script_and_no_secret() {
    let mindful = Mindful::new();
    let plan = ["--target", "postgres://me:secret@db/x?application_name=it's", "--ranks", "4", "--sessions", "64"];
    let printed = |launcher: &str| {
        let output = mindful.run(&[&["launch", launcher], &plan[..]].concat());
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("run") && !text.contains("secret@"), "{text}");
        text
    };
    let slurm = printed("slurm");
    assert!(slurm.starts_with("#!/bin/sh\n") && slurm.contains("#SBATCH --ntasks=4\n"), "{slurm}");
    assert!(slurm.contains("srun --kill-on-bad-exit=0") && slurm.contains("--sessions 64"), "{slurm}");
    let mpi = printed("mpi");
    assert!(mpi.starts_with("mpirun -n 4 mindful run ") && !mpi.contains("--ranks"), "{mpi}");
    let words = Command::new("sh").args(["-c", &format!("printf '%s\\n' {mpi}")]).output().unwrap();
    let words = String::from_utf8(words.stdout).unwrap();
    assert!(words.lines().any(|word| word.starts_with("postgres://") && word.ends_with("it's")), "{words}");
    let job = printed("kubernetes");
    for line in [
        "completionMode: Indexed",
        "backoffLimit: 0",
        "completions: 4",
        "secretKeyRef:",
        "- \"--ranks\"\n            - \"4\"",
    ] {
        assert!(job.contains(line), "{line}: {job}");
    }
    assert!(refused(&mindful.run(&["launch", "ssh"])).contains("choose slurm, mpi, kubernetes"));
}

#[test]
fn a_launcher_is_given_the_password_of_each_database() {
    let mindful = Mindful::new();
    let printed = |launcher: &str, given: &[&str]| {
        let output = mindful.run(&[&["launch", launcher, "--ranks", "2", "--sessions", "8"], given].concat());
        String::from_utf8(output.stdout).unwrap()
    };
    let mysql = ["--target", "mysql://me@db/bench"];
    let script = printed("slurm", &mysql);
    assert!(script.contains("A password: MYSQL_PWD in the environment") && !script.contains("PGPASSWORD"), "{script}");
    let job = printed("kubernetes", &mysql);
    assert!(job.contains("- name: MYSQL_PWD\n") && job.contains("key: password\n"), "{job}");
    let both = printed("kubernetes", &[&mysql[..], &["--meet", "postgres://me@other/meet"]].concat());
    assert!(both.contains("--from-literal=mysql-pwd=... --from-literal=pgpassword=..."), "{both}");
    assert!(both.contains("- name: MYSQL_PWD\n") && both.contains("key: pgpassword\n"), "{both}");
    let files = printed("kubernetes", &["--target", "raw:blocks", "--meet", "dir:meet"]);
    assert!(!files.contains("secret") && !printed("slurm", &["--target", "null:"]).contains("password"), "{files}");
}
