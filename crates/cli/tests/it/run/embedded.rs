//! Whole commands on the embedded PostgreSQL.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::mindful::alone::Alone;
use crate::mindful::{PAUSES, proofs, ratios, refused, shares, short_run, template, wait_for_handlers};
use mindful_conformance::processes::working_in;
use mindful_conformance::{not_run, place, quick_place};
use serde_json::Value;

/// A place that the server's user can reach, with a store and a data directory in it.
struct Place(Alone);

impl Place {
    fn new() -> Self {
        Self(Alone::new(place()))
    }

    /// For what is no matter of figures.
    fn beside_others() -> Self {
        Self(Alone::beside_others(place()))
    }

    /// For what is no matter of the device either.
    fn quick() -> Self {
        Self(Alone::beside_others(quick_place()))
    }

    /// With a private server that has the dataset of a short run.
    fn with_server(self) -> Self {
        template::copy_to(&self.data());
        self
    }

    fn data(&self) -> PathBuf {
        self.0.folder().join("data")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        command.arg("--data-dir").arg(self.data());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(&short_run(args)).output().unwrap()
    }

    fn measured(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    }

    /// What `show` says of the newest run.
    fn shown(&self, args: &[&str]) -> String {
        let output = self.0.command(&["show", "--full"]).args(args).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

fn figure(step: &Value, name: &str) -> f64 {
    step[name].as_f64().unwrap_or_else(|| panic!("{name} is not known: {step:#}"))
}

/// Steps that ended in the one run among `runs`.
fn steps_ended(runs: &Path) -> usize {
    let folder = std::fs::read_dir(runs).ok().and_then(|mut entries| entries.next()?.ok());
    let lines = folder.and_then(|folder| std::fs::read_to_string(folder.path().join("run.jsonl")).ok());
    lines.map_or(0, |lines| lines.matches("\"event\":\"step_end\"").count())
}

#[test]
fn a_private_server_works_in_a_folder_of_any_name() {
    let place = Place::quick();
    let run = |args: &[&str], name: &str| {
        let data = place.0.folder().join(name);
        place.0.command(args).arg("--data-dir").arg(data).output().unwrap()
    };
    for name in ["a,b c", "g\"h'i\\j", "-k:l;m$o%p#q"] {
        template::copy_to(&place.0.folder().join(name));
        for verb in [&short_run(&[&["--target", "embedded"][..], &PAUSES].concat())[..], &["cleanup", "--yes"]] {
            let output = run(verb, name);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{name}: {output:?}");
        }
        assert!(!place.0.folder().join(name).exists(), "{name}");
    }
    assert!(refused(&run(&["run"], "a\nb")).contains("control character"));
}

#[test]
fn updates_commit_one_by_one_and_the_mix_is_exact() {
    let place = Place::quick().with_server();
    // What sessions have committed reaches the server's counter when a slice of theirs ends, on a busy host late.
    let pauses = ["--think-time", "5ms..5ms", "--duration", "9s"];
    let ran = place.measured(&[&["--update-pct", "30", "--work-unit", "4", "--cache", "16MiB"][..], &pauses].concat());
    let step = &ran["steps"][0];
    assert!((figure(step, "update_pct_realised") - 30.0).abs() < 0.2, "{step:#}");
    let (updates, commits) = (figure(&step["ops"]["update"], "per_s"), figure(step, "commits_per_s"));
    // Looks at the counters commit a few dozen times a second, which on a busy host is a good part.
    assert!((commits - updates).abs() < 0.15 * updates + 25.0, "{commits} commits for {updates} updates");
    assert!(figure(step, "log_bytes_per_s") > 0.0);
    let text = place.shown(&[]);
    for row in ["blocks updated", "WAL writes", "by sessions", "by checkpoints", "by the background writer"] {
        assert!(text.contains(row), "the ledger lacks {row}: {text}");
    }
    let csv = String::from_utf8(place.0.command(&["export", "--as", "csv"]).output().unwrap().stdout).unwrap();
    let mut lines = csv.lines().map(|line| line.split(','));
    let mut cells = lines.next().unwrap().zip(lines.next().unwrap());
    let reported: f64 = cells.find(|(title, _)| *title == "log_writes_per_s").unwrap().1.parse().unwrap();
    assert!(reported > 0.0, "{csv}");
}

#[test]
fn reads_after_updates_write_nothing() {
    let place = Place::quick().with_server();
    place.measured(&[&["--update-pct", "50", "--work-unit", "4"][..], &PAUSES].concat());
    let reads = place.measured(&PAUSES);
    assert!(!reads["findings"].to_string().contains("writes-without-updates"), "{reads:#}");
    assert!(figure(&reads["steps"][0], "physical_writes_per_s") < 50.0, "{reads:#}");
}

/// The server reads a table past its cache when it is larger than a quarter of it.
#[test]
fn scans_are_reported_to_be_direct_or_cached_as_they_were() {
    let place = Place::quick().with_server();
    let scans = ["--namespace", "scanned", "--scan-table", "8MiB", "--scan-pct", "5", "--warmup", "1s"];
    for (buffers, direct, reported) in [("16MB", true, "scans were direct"), ("128MB", false, "scans were cached")] {
        let ran = place.measured(&[&scans[..], &PAUSES, &["--set", &format!("shared_buffers={buffers}")]].concat());
        let share = figure(&ran["steps"][0], "scan_direct_share");
        assert_eq!(share > 0.95, direct, "{share} with {buffers}: {ran:#}");
        assert_eq!(share < 0.05, !direct, "{share} with {buffers}: {ran:#}");
        let text = place.shown(&[ran["id"].as_str().unwrap()]);
        assert!(text.contains(reported), "{text}");
    }
}

#[test]
fn choices_come_out_as_asked_alone_and_together_in_both_loops() {
    let place = Place::quick().with_server();
    let mix =
        ["--namespace", "mixed", "--work-unit", "2", "--update-pct", "30", "--scan-table", "16", "--scan-pct", "20"];
    let hot = ["--hot-spot-size", "100", "--hot-spot-share", "25", "--hot-schema", "40", "--commit-wait", "off"];
    // So much is done on a host as slow as can be.
    let work = ["--ops", "1500", "--warmup", "0s"];
    for looping in ["server", "client"] {
        let ran = place.measured(&[&mix[..], &hot, &work, &["--loop", looping]].concat());
        shares::hold(&ran["steps"][0], [30.0, 20.0, 25.0, 40.0]);
    }
}

#[test]
fn stored_blocks_compress_as_asked_in_load_and_run() {
    let place = Place::quick().with_server();
    for asked in ["1", "2", "4"] {
        let of = ["--namespace", &format!("ratio_{asked}")];
        let data = ["load", "--schemas", "1", "--scale", "600", "--compress-ratio", asked];
        let loaded = place.command(&[&data[..], &of].concat()).output().unwrap();
        ratios::hold(&String::from_utf8(loaded.stderr).unwrap(), asked);
        let run = ["run", "--format", "json", "--warmup", "0s", "--duration", "1s", "--think-time", "20ms..20ms"];
        let ran = place.command(&[&run[..], &of].concat()).output().unwrap();
        let ran: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
        ratios::hold(&ratios::kept(&place.0.store(), &ran), asked);
    }
}

#[test]
fn a_cached_run_is_not_called_storage() {
    let place = Place::quick().with_server();
    let output = place.run(&["--mode", "lio", "--tag", "cached"]);
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    assert!(figure(&ran["steps"][0], "hit_ratio") > 0.99, "{ran:#}");
    assert_ne!(ran["validity"], "invalid", "{ran:#}");
    assert!(!ran["findings"].to_string().contains("page-cache"), "what is cached claims nothing of storage: {ran:#}");
    let text = place.shown(&["cached"]);
    assert!(text.contains("database cache") && !text.contains("storage IOPS"), "{text}");
}

#[test]
fn a_killed_mindful_leaves_no_server_and_usable_data() {
    let place = Place::quick();
    let long = ["run", "--schemas", "4", "--scale", "32MiB", "--sessions", "2", "--duration", "20s"];
    let args = [&long[..], &PAUSES].concat();
    // From before the server is up, over the load, to the run.
    for after_ms in [150, 600, 1_000, 1_600, 2_500, 3_500] {
        let mut child = place.spawn(&args);
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while !working_in(&place.data()).is_empty() {
            assert!(Instant::now() < deadline, "a server is left {after_ms} ms after the start was killed");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    let output = place
        .command(&["run", "--format", "json", "--sessions", "2", "--warmup", "0s", "--duration", "2s"])
        .output()
        .unwrap();
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    assert!(figure(&ran["steps"][0], "blocks_visited_per_s") > 0.0, "{ran:#}");
}

#[test]
fn doctor_makes_no_server_and_fetches_none() {
    let place = Place::quick();
    let shelf = place.0.folder().join("shelf");
    let look = |args: &[&str]| {
        let output = place.command(&["doctor"]).arg("--fetch-dir").arg(&shelf).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    for args in [&[][..], &["--mode", "lio", "--fetch", "off"]] {
        let reported = look(args);
        assert!(reported.contains("no-server-yet") && reported.contains(place.data().to_str().unwrap()), "{reported}");
        assert!(!place.data().exists() && !shelf.exists(), "{reported}");
    }
    assert!(place.command(&["load", "--schemas", "1", "--scale", "8MiB"]).output().unwrap().status.success());
    let reported = place.command(&["doctor"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&reported.stdout).contains("no-server-yet"), "{reported:?}");
}

/// As in a container without root that has one user: it can become nobody else, and no database server runs as root.
#[test]
fn root_of_a_namespace_of_one_user_is_refused_with_the_way_out() {
    let place = Place::quick();
    let unshare = |args: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.arg("--map-root-user").args(args).current_dir(place.0.folder()).env("MINDFUL_STORE", place.0.store());
        unshare.stdin(Stdio::null()).output()
    };
    if !unshare(&["true"]).is_ok_and(|output| output.status.success()) {
        return not_run("user namespaces may not be made here");
    }
    let run = |args: &[&str]| {
        let data = place.data().display().to_string();
        let all = [&[env!("CARGO_BIN_EXE_mindful")][..], args, &["--data-dir", &data]].concat();
        let output = unshare(&all).unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for args in [&["run"][..], &["load"], &["doctor"], &["cleanup", "--yes"], &["run", "--target", "mariadb:"]] {
        let (code, text) = run(args);
        assert_eq!((code, text.lines().count()), (Some(3), 1), "{args:?}: {text}");
        assert!(text.contains("/proc/self/uid_map") && text.contains("start mindful as a plain user"), "{text}");
        assert!(!place.data().exists(), "{args:?}");
    }
}

#[test]
fn cleanup_lists_and_removes_what_is_ours() {
    let place = Place::quick().with_server();
    let asked = place.command(&["cleanup"]).output().unwrap();
    assert_eq!(asked.status.code(), Some(2), "nobody is there to answer: {asked:?}");
    let done = place.command(&["cleanup", "--yes"]).output().unwrap();
    assert!(done.status.success() && String::from_utf8_lossy(&done.stdout).contains("removed"), "{done:?}");
    let listed = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(listed.contains(&format!("{} (", place.data().display())), "{listed}");
    assert!(!place.data().exists() && working_in(&place.data()).is_empty(), "the private folder is left");
    let again = place.command(&["cleanup", "--yes"]).output().unwrap();
    assert!(String::from_utf8_lossy(&again.stdout).contains("nothing of mindful's"), "{again:?}");
    assert!(!place.data().exists(), "a server is made to be cleaned up");
    let next = place.measured(&["--warmup", "0s", "--duration", "1s"]);
    assert!(figure(&next["steps"][0], "blocks_visited_per_s") > 0.0, "{next:#}");
}

#[test]
fn cleanup_leaves_a_private_server_that_holds_others_data() {
    let place = Place::quick();
    let load = |namespace| {
        let args = ["load", "--schemas", "1", "--scale", "8MiB", "--namespace", namespace];
        assert!(place.command(&args).output().unwrap().status.success());
    };
    let clean = |namespace| {
        let done = place.command(&["cleanup", "--yes", "--namespace", namespace]).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    load("first");
    load("second");
    let reported = clean("first");
    assert!(reported.contains("keep, it also holds schema second") && place.data().exists(), "{reported}");
    let letter = place.data().join("letter.txt");
    std::fs::write(&letter, "dear").unwrap();
    let reported = clean("second");
    assert!(reported.contains("keep, it also holds letter.txt") && letter.exists(), "{reported}");
    std::fs::remove_file(letter).unwrap();
    let reported = clean("second");
    assert!(reported.contains("1 removed") && !place.data().exists(), "{reported}");
}

#[cfg(feature = "raw")]
#[test]
fn a_contrast_measures_every_rung_on_one_core_and_on_all() {
    let place = Place::beside_others().with_server();
    // Long enough that its one session is at work in it on a full host too.
    let small =
        ["--schemas", "2", "--scale", "16MiB", "--sessions", "1", "--warmup", "100ms", "--think-time", "5ms..5ms"];
    let hook = "echo $MINDFUL_PHASE";
    let hooks = ["--hook-before", hook, "--hook-after", hook, "--hook-end", hook];
    let measured = |duration| {
        let short = ["--duration", duration];
        let contrast = [&["contrast", "--format", "json", "--repeat", "1"], &small[..], &short, &hooks].concat();
        let output = place.command(&contrast).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
    };
    // On a full host a session may not get to work in a short window, or its counters of CPU be read too late to be those of it.
    let all_known = |ran: &Value| {
        let rungs = ["pinned", "all_cores"].map(|cores| ran["contrast"][cores].as_array().unwrap().clone()).concat();
        let of_each = rungs.len() == 12 && rungs.iter().all(|rung| rung["cpu_us_per_block"].is_number());
        of_each && ["storage_us", "cpu_us", "waits_us"].iter().all(|part| ran["contrast"]["added"][part].is_number())
    };
    let ran = ["800ms", "2s"].into_iter().map(measured).find(all_known).unwrap_or_else(|| measured("5s"));
    let folder = place.0.store().join("runs").join(ran["id"].as_str().unwrap());
    for phase in ["before", "after", "end"] {
        let reported = std::fs::read_to_string(folder.join(format!("hook-{phase}.out"))).unwrap();
        assert_eq!(reported, format!("{phase}\n"), "a hook is called once around all rungs");
    }
    let contrast = &ran["contrast"];
    for cores in ["pinned", "all_cores"] {
        let rungs = contrast[cores].as_array().unwrap();
        let names: Vec<_> = rungs.iter().map(|rung| rung["rung"].as_str().unwrap()).collect();
        assert_eq!(names.len(), 6, "{names:?}");
        assert!(rungs.iter().all(|rung| figure(rung, "cpu_us_per_block") > 0.0), "{contrast:#}");
    }
    let eta = figure(contrast, "eta");
    let iops = |rung: usize| figure(&contrast["all_cores"][rung], "iops");
    assert!((eta / (iops(4) / iops(0)) - 1.0).abs() < 0.01, "eta is of the rungs beside it: {contrast:#}");
    assert_eq!(contrast["eta_interval"], Value::Null, "{contrast:#}");
    let parts = ["storage_us", "cpu_us", "waits_us"].map(|part| figure(&contrast["added"], part));
    let sum: f64 = parts.iter().sum();
    assert!((sum - figure(contrast, "added_us_per_block")).abs() < 0.01, "the parts add up: {contrast:#}");
    // The stored run tells all of it again.
    let shown = place.shown(&[]);
    for reported in ["one core", "all cores", "database, cached", "(eta ", "one round has no interval"] {
        assert!(shown.contains(reported), "{reported}: {shown}");
    }
}

#[test]
fn a_sweep_of_a_real_server_goes_on_after_it_was_killed() {
    let place = Place::quick().with_server();
    let base =
        ["sweep", "--schemas", "2", "--scale", "16MiB", "--warmup", "200ms", "--duration", "500ms", "--tag", "real"];
    let ladder = ["--sessions", "1,2,4", "--set", "shared_buffers=16MB,64MB"];
    let mut child = place.spawn(&[&base[..], &ladder, &PAUSES].concat());
    let runs = place.0.store().join("runs");
    let deadline = Instant::now() + Duration::from_mins(2);
    while steps_ended(&runs) < 3 {
        assert!(Instant::now() < deadline, "the sweep does not get on");
        std::thread::sleep(Duration::from_millis(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = place.0.command(&["sweep", "--resume", "real", "--format", "json"]).output().unwrap();
    let swept: Value = serde_json::from_slice(&resumed.stdout).unwrap_or_else(|e| panic!("{e}: {resumed:?}"));
    let points: std::collections::BTreeSet<String> =
        swept["steps"].as_array().unwrap().iter().map(|step| step["point"]["values"].to_string()).collect();
    assert_eq!(points.len(), 6, "{swept:#}");
}

/// From the first process to the middle of the load: whenever the signal comes, mindful ends soon and leaves no server.
#[test]
fn a_signal_ends_the_making_and_the_loading_of_a_server() {
    let place = Place::beside_others();
    // More than any machine loads in the seconds that are left to it: a schema that is done is no longer cut off.
    let load = ["load", "--schemas", "2", "--scale", "4GiB"];
    let mut cut_off = 0;
    for (turn, after_ms) in [50, 200, 500, 900, 1_500].into_iter().enumerate() {
        let mut child = place.spawn(&load);
        // The first may come before mindful listens: a shell lets what runs behind it ignore SIGINT, not SIGTERM.
        if turn > 0 {
            wait_for_handlers(&child);
        }
        std::thread::sleep(Duration::from_millis(after_ms));
        let asked = [rustix::process::Signal::TERM, rustix::process::Signal::INT][turn % 2];
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), asked).unwrap();
        let reported = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status,
                // Against hangs, on a busy host too.
                None if reported.elapsed() > Duration::from_mins(1) => {
                    break child.kill().and_then(|()| child.wait()).unwrap();
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let took = reported.elapsed();
        cut_off += u32::from(status.code() == Some(130));
        let ended = status.code() == Some(130) || turn == 0 && !place.data().exists();
        assert!(ended, "after {after_ms} ms: {status:?}, {took:?} after the signal");
        // Programs that made the server end with mindful, each when it is reported so.
        while !working_in(&place.data()).is_empty() {
            assert!(reported.elapsed() < Duration::from_mins(2), "after {after_ms} ms: a server is left");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    assert!(cut_off >= 3, "only {cut_off} were cut off");
    let made = place.run(&[]);
    assert!(made.status.success(), "what was cut off is in the way: {made:?}");
}

/// No other test of this program may work beside these.
mod alone {
    use super::*;

    #[test]
    fn the_default_reads_physically_and_reuses_server_and_data() {
        let place = Place::new();
        let first = place.measured(&["--scale", "64MiB"]);
        assert!(first["dataset"]["load_s"].is_number(), "{first:#}");
        let step = &first["steps"][0];
        let physical = figure(step, "physical_reads_per_s");
        let by_processes = figure(step, "process_reads_per_s");
        assert!((by_processes / physical - 1.0).abs() < 0.05, "direct I/O: {by_processes} of {physical}");
        assert!(figure(step, "blocks_visited_per_s") > 0.0 && figure(step, "start_skew_ms") >= 0.0);
        let second = place.measured(&["--scale", "64MiB", "--seed", "2"]);
        assert!(second["dataset"]["load_s"].is_null(), "{second:#}");
        proofs::hold(&first, &second, &place.shown(&["latest"]));
        assert!(working_in(&place.data()).is_empty(), "the server is stopped when nobody measures");
    }

    #[test]
    fn what_a_physical_read_adds_is_known_after_a_cached_run() {
        const MARGINAL: &str = "db_us_per_physical_read_marginal";
        let place = Place::new();
        let physical = ["--scale", "64MiB"];
        let alone = place.measured(&[&physical[..], &["--duration", "500ms"]].concat());
        assert!(alone["steps"][0]["cpu"][MARGINAL].is_null(), "{alone:#}");
        let why = place.shown(&["--explain", MARGINAL]);
        assert!(why.contains("unknown when no cached run"), "{why}");
        // Beside others it may take seconds until all of it was read once.
        let is_cached = ["500ms", "3s", "9s"].into_iter().any(|warmup| {
            let cached = ["--mode", "lio", "--duration", "1s", "--warmup", warmup];
            let cached = place.measured(&[&physical[..], &cached].concat());
            figure(&cached["steps"][0], "hit_ratio") >= 0.999
        });
        assert!(is_cached, "a cache that holds all of the data serves all of it");
        let beside = place.measured(&physical);
        let cpu = &beside["steps"][0]["cpu"];
        let (added, all) = (figure(cpu, MARGINAL), figure(cpu, "db_us_per_physical_read"));
        assert!(added > 0.0 && added < all, "{added} us of {all} us");
        let text = place.shown(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("us more than one from the cache"), "{text}");
        let other = place.measured(&["--scale", "64MiB", "--work-unit", "8", "--duration", "500ms"]);
        assert!(other["steps"][0]["cpu"][MARGINAL].is_null(), "another work unit costs something else: {other:#}");
    }

    #[test]
    fn watching_costs_under_a_percent_and_its_cost_is_reported() {
        let place = Place::new().with_server();
        let ran = place.measured(&["--duration", "3s"]);
        let cpu = &ran["steps"][0]["cpu"];
        assert!(figure(cpu, "wait_sampling_share") > 0.0, "{cpu:#}");
        assert!(!ran["findings"].to_string().contains("wait-sampling-cost"), "{cpu:#}");
        let text = place.shown(&["--explain", "watching_cores"]);
        let grew = |counter: &str| {
            let line =
                text.lines().find(|line| line.contains(&format!("{counter} from"))).unwrap_or_else(|| panic!("{text}"));
            let words: Vec<f64> =
                line.replace(',', "").split_whitespace().filter_map(|word| word.parse().ok()).collect();
            words[1] - words[0]
        };
        let parts = ["observer_cpu", "settled_observer_cpu", "sampling_cpu"].map(|part| grew(&format!(" {part}")));
        assert!(parts.iter().all(|us| *us > 0.0), "{text}");
        let cores = parts.iter().sum::<f64>() / 1e6 / figure(&ran["steps"][0], "duration_s");
        assert!(figure(cpu, "watching_cores") > cores * 0.95, "{cores} cores by these three alone: {text}");
    }
}
