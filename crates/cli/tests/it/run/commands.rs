//! Whole commands on the null engine: what is printed, what is stored, how they exit.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::{not_run, quick_place};
use serde_json::Value;

struct Cli {
    store: tempfile::TempDir,
}

impl Cli {
    fn new() -> Self {
        Self { store: tempfile::tempdir().unwrap() }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.args(args).current_dir(self.store.path()).env("MINDFUL_STORE", self.store.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// A short run on the null engine with its summary, of operations that take no CPU.
    fn measured(&self, args: &[&str]) -> (i32, Value) {
        let base = ["run", "--format", "json", "--target", "null:", "--scale", "1000", "--warmup", "500ms"];
        let slow: &[&str] = if args.contains(&"--null-latency") { &[] } else { &["--null-latency", "1ms"] };
        let output = self.run(&[&base[..], slow, args].concat());
        let text = String::from_utf8(output.stdout).unwrap();
        let json = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {:?}", output.stderr));
        (output.status.code().unwrap(), json)
    }
}

/// A short sweep on the null engine, without its ladder.
const SWEEP: [&str; 7] = [
    "sweep",
    "--target=null:",
    "--scale=1000",
    "--null-latency=1ms",
    "--warmup=200ms",
    "--duration=1s",
    "--sessions=1,2",
];

fn refused(output: &Output) -> (i32, String) {
    assert!(output.stdout.is_empty(), "{:?}", output.stdout);
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.trim_end().lines().count(), 1, "one line: {text}");
    (output.status.code().unwrap(), text)
}

fn is_empty(folder: &Path) -> bool {
    !folder.join("runs").exists() || folder.join("runs").read_dir().unwrap().next().is_none()
}

#[test]
fn a_run_is_measured_stored_and_shown_the_same_again() {
    let cli = Cli::new();
    let (code, ran) = cli.measured(&["--duration", "2s", "--sessions", "4", "--update-pct", "20"]);
    assert_eq!(code, 0, "{ran:#}");
    let step = &ran["steps"][0];
    assert!((step["update_pct_realised"].as_f64().unwrap() - 20.0).abs() < 0.1, "{step:#}");
    assert!((step["duration_s"].as_f64().unwrap() - 2.0).abs() < 0.02, "{step:#}");
    let shown = cli.run(&["show", "latest", "--format", "json"]);
    assert_eq!(serde_json::from_slice::<Value>(&shown.stdout).unwrap(), ran);
    let id = ran["id"].as_str().unwrap();
    let listed = String::from_utf8(cli.run(&["list"]).stdout).unwrap();
    assert!(listed.contains(id), "{listed}");
}

#[test]
fn a_session_that_dies_makes_the_run_invalid_and_is_named() {
    let cli = Cli::new();
    let (code, ran) = cli.measured(&["--duration", "5s", "--sessions", "3", "--null-fail", "2@1s"]);
    assert_eq!((code, ran["validity"].as_str().unwrap()), (1, "invalid"), "{ran:#}");
    assert!(ran["findings"].to_string().contains("session 3: the null engine ended it"), "{ran:#}");
}

#[test]
fn an_interrupted_run_is_readable_and_marked() {
    let cli = Cli::new();
    let args = [
        "run",
        "--format",
        "json",
        "--target",
        "null:",
        "--scale",
        "1000",
        "--null-latency",
        "1ms",
        "--duration",
        "5m",
    ];
    let child = cli.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_runs(cli.store.path());
    std::thread::sleep(Duration::from_secs(2));
    let reported = Instant::now();
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(reported.elapsed() < Duration::from_secs(30), "{:?}", reported.elapsed());
    assert_eq!(output.status.code(), Some(130));
    let ran: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(ran["validity"], "invalid");
    assert!(ran["findings"].to_string().contains("interrupted"), "{ran:#}");
}

#[test]
fn a_killed_run_stays_readable_and_is_unfinished() {
    let cli = Cli::new();
    let args =
        ["run", "--target", "null:", "--scale", "1000", "--null-latency", "1ms", "--duration", "5m", "--tag", "killed"];
    let mut child = cli.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_runs(cli.store.path());
    std::thread::sleep(Duration::from_secs(2));
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = cli.run(&["show", "killed", "--format", "json"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["finished"], false);
    assert_ne!(shown["validity"], "valid");
}

fn wait_for_runs(store: &Path) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while is_empty(store) {
        assert!(Instant::now() < deadline, "no run folder appeared");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_fixed_amount_of_work_is_done_exactly() {
    let cli = Cli::new();
    let (code, ran) = cli.measured(&["--ops", "500", "--sessions", "3", "--null-latency", "1ms"]);
    assert_eq!(code, 0, "{ran:#}");
    let folder = cli.store.path().join("runs").join(ran["id"].as_str().unwrap());
    let lines = std::fs::read_to_string(folder.join("run.jsonl")).unwrap();
    let events = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut done = [0; 3];
    for slice in events.filter(|event| event["event"] == "slice") {
        let session = slice["session"].as_u64().unwrap() as usize;
        done[session] += slice["report"]["ops"][0]["ops"].as_u64().unwrap();
    }
    assert_eq!(done, [500, 500, 500]);
}

#[test]
fn bad_input_is_one_line_and_changes_nothing() {
    let cli = Cli::new();
    let cases: &[(&[&str], &str)] = &[
        (&["run", "--sesions", "4"], "did you mean `--sessions`?"),
        (&["rum"], "did you mean `run`?"),
        (&["run", "--duration", "30"], "`30` is not a time"),
        (&["run", "--scale", "64M"], "write MiB"),
        (&["run", "--update-pct", "101"], "0 to 100"),
        (&["run", "--target", "nul:"], "did you mean `null`?"),
        (&["run", "--target", "null:", "--scale", "100", "--work-unit", "101"], "larger than the scale"),
        (&["run", "--target", "null:", "--schemas", "3", "--threads", "2", "--sessions", "5"], "are 6 sessions"),
        (&["run", "--target", "null:", "--ops", "5", "--duration", "3s"], "both ops and duration"),
        (&["run", "--tag", "a b"], "cannot be a tag"),
        (&["show", "nothing"], "holds no runs"),
        (&["run", "--target", "null:", "--loop", "server", "--rate", "5"], "--loop client"),
    ];
    for (args, hint) in cases {
        let (code, text) = refused(&cli.run(args));
        assert_eq!(code, 2, "{args:?}: {text}");
        assert!(text.contains(hint), "{args:?}: {text}");
    }
    assert!(is_empty(cli.store.path()));
}

#[test]
fn hooks_are_waited_for_and_their_output_is_stored() {
    let cli = Cli::new();
    let hook = "echo $MINDFUL_PHASE of $MINDFUL_RUN_ID";
    let (code, ran) = cli.measured(&["--duration", "1s", "--hook-before", hook, "--hook-after", "sleep 0.3; exit 0"]);
    assert_eq!(code, 0, "{ran:#}");
    let id = ran["id"].as_str().unwrap();
    let folder = cli.store.path().join("runs").join(id);
    assert_eq!(std::fs::read_to_string(folder.join("hook-before.out")).unwrap(), format!("before of {id}\n"));
    assert!(folder.join("hook-after.out").exists());
}

#[test]
fn a_failed_hook_fails_the_run_or_warns_as_the_plan_says() {
    let cli = Cli::new();
    let (code, ran) = cli.measured(&["--duration", "1s", "--hook-before", "exit 3"]);
    assert_eq!((code, &ran["validity"]), (1, &Value::from("invalid")), "{ran:#}");
    let (code, ran) = cli.measured(&["--duration", "1s", "--hook-before", "exit 3", "--hook-failure", "warn"]);
    assert_eq!((code, &ran["validity"]), (0, &Value::from("suspect")), "{ran:#}");
    let began = Instant::now();
    let (code, _) = cli.measured(&["--duration", "1s", "--hook-before", "sleep 60", "--hook-timeout", "500ms"]);
    assert_eq!(code, 1);
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn an_old_configuration_becomes_a_plan_that_runs() {
    let cli = Cli::new();
    let conf = cli.store.path().join("slob.conf");
    std::fs::write(&conf, "UPDATE_PCT=25\nRUN_TIME=2\nSCALE=8M\nWORK_UNIT=16\nREDO_STRESS=LITE\n").unwrap();
    let imported = cli.run(&["import", "slob.conf", "--output", "mindful.toml"]);
    assert!(imported.status.success(), "{imported:?}");
    let (code, text) = refused(&cli.run(&["import", "slob.conf", "--output", "mindful.toml"]));
    assert!(code == 2 && text.contains("--yes"), "{text}");
    let ran = cli.run(&["run", "--format", "json", "--target", "null:", "--null-latency", "1ms", "--warmup", "0s"]);
    let ran: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((ran["steps"][0]["work_unit"].as_u64(), ran["steps"][0]["scale"].as_u64()), (Some(16), Some(1024)));
}

#[test]
fn realised_choices_are_reported_alone_and_together() {
    let cli = Cli::new();
    let args = [
        "--duration",
        "2s",
        "--update-pct",
        "50",
        "--hot-spot-size",
        "200",
        "--hot-spot-share",
        "50",
        "--work-unit",
        "1",
    ];
    let (_, ran) = cli.measured(&args);
    let choices = &ran["steps"][0]["choices"];
    let share =
        |group: &str, name: &str| choices[group][name].as_f64().unwrap_or_else(|| panic!("{name}: {choices:#}"));
    assert!((share("alone_pct", "update") - 50.0).abs() < 0.2 && (share("alone_pct", "hot_spot") - 50.0).abs() < 2.0);
    // Independent: together as often as the product of both.
    assert!((share("joint_pct", "update+hot_spot") - 25.0).abs() < 2.0, "{choices:#}");
}

#[test]
fn the_plan_tells_where_each_value_comes_from() {
    let cli = Cli::new();
    let mut command = cli.command(&["plan", "--work-unit", "16"]);
    let text = String::from_utf8(command.env("MINDFUL_UPDATE_PCT", "30").output().unwrap().stdout).unwrap();
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("work_unit").ends_with("--work-unit") && line("work_unit").contains("16"));
    assert!(line("update_pct").ends_with("MINDFUL_UPDATE_PCT") && line("update_pct").contains("30"));
    assert!(line("duration").ends_with("default"));
}

#[test]
fn every_engine_is_shown_with_what_it_can_do() {
    let engines: Value = serde_json::from_slice(&Cli::new().run(&["engines", "--format", "json"]).stdout).unwrap();
    let names: Vec<_> = engines.as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"null") && names.contains(&"postgres") && names.contains(&"sqlite"), "{names:?}");
    assert!(engines[0]["capabilities"]["updates"].is_boolean());
}

#[test]
fn an_old_kits_arithmetic_is_labelled_in_every_report() {
    let cli = Cli::new();
    let (code, ran) = cli.measured(&["--duration", "2s", "--like", "slob", "--sessions", "2", "--tag", "old"]);
    assert_eq!((code, &ran["steps"][0]["like"]), (0, &Value::from("slob")), "{ran:#}");
    let swept = cli.run(&[&SWEEP[..], &["--like", "pgio"]].concat());
    let said = |output: Output| String::from_utf8(output.stdout).unwrap();
    assert!(said(swept).contains("pgio 1.0"));
    let reports: [&[&str]; 4] =
        [&["show", "old"], &["list"], &["export", "old"], &["compare", "--baseline", "old", "--candidate", "old"]];
    for report in reports {
        let output = cli.run(report);
        assert!(said(output.clone()).contains("SLOB 2.5.4"), "{report:?}: {output:?}");
    }
}

#[test]
fn an_update_runs_headline_names_when_it_commits() {
    let cli = Cli::new();
    for (keys, words) in [
        (&["--commit", "10", "--commit-wait", "off"][..], "commits every 10 updates, not waiting for the log"),
        (&[][..], "commits each update, waiting for the log"),
    ] {
        let (_, ran) = cli.measured(&[&["--duration", "1s", "--update-pct", "30"], keys].concat());
        let text = String::from_utf8(cli.run(&["show"]).stdout).unwrap();
        let headline = text.lines().find(|line| line.contains("blocks visited") || line.contains("reads"));
        assert!(headline.is_some_and(|line| line.contains(words)), "{text}");
        assert!(words.ends_with(ran["steps"][0]["commit"].as_str().unwrap()), "{ran:#}");
    }
}

#[test]
fn hooks_are_called_around_a_sweep_too() {
    let cli = Cli::new();
    let hook = "echo $MINDFUL_PHASE";
    let hooks = ["--hook-before", hook, "--hook-after", hook, "--hook-end", hook];
    let output = cli.run(&[&SWEEP[..], &hooks].concat());
    assert!(output.status.success(), "{output:?}");
    let folder = cli.store.path().join("runs").read_dir().unwrap().next().unwrap().unwrap().path();
    for phase in ["before", "after", "end"] {
        let reported = std::fs::read_to_string(folder.join(format!("hook-{phase}.out"))).unwrap();
        assert_eq!(reported, format!("{phase}\n"));
    }
    let lines = String::from_utf8(cli.run(&["export", "--as", "jsonl"]).stdout).unwrap();
    assert_eq!(lines.matches("{\"event\":\"hook\",\"moment\":\"").count(), 2, "before and after all steps: {lines}");
    let picture = String::from_utf8(cli.run(&["export", "--as", "svg", "--chart", "timeline"]).stdout).unwrap();
    assert_eq!(picture.matches(">H</text>").count(), 2, "{picture}");
    let failed = cli.run(&[&SWEEP[..], &["--hook-before", "exit 3"]].concat());
    assert!(!failed.status.success(), "{failed:?}");
}

#[test]
fn a_stalled_open_loop_keeps_every_tick_and_no_percentile() {
    let cli = Cli::new();
    // Two sessions can do 400 a second; a stall of a second leaves more behind than the rest of the run catches up.
    let rate = ["--rate", "even:300", "--null-latency", "5ms", "--null-stall", "1500ms+1s", "--sessions", "2"];
    let (_, ran) = cli.measured(&[&["--duration", "3s"], &rate[..]].concat());
    let folder = cli.store.path().join("runs").join(ran["id"].as_str().unwrap());
    let lines = std::fs::read_to_string(folder.join("run.jsonl")).unwrap();
    let events: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let started = events.iter().find(|event| event["event"] == "started").unwrap();
    let boundaries = started["boundaries_us"].as_array().unwrap();
    let us = |boundary: Option<&Value>| boundary.unwrap().as_f64().unwrap();
    let due = 300.0 * (us(boundaries.last()) - us(boundaries.first())) / 1e6;
    let (mut done, mut left) = (0, [0, 0]);
    for slice in events.iter().filter(|event| event["event"] == "slice") {
        done += slice["report"]["ops"][0]["ops"].as_u64().unwrap();
        left[slice["session"].as_u64().unwrap() as usize] = slice["report"]["backlog"].as_u64().unwrap();
    }
    let met = (done + left[0] + left[1]) as f64;
    assert!((met - due).abs() <= 2.0, "{done} done and {left:?} left of {due} due");
    assert!(left[0] + left[1] > 50, "{left:?}");
    // JSON, CSV, the report and the list.
    let select = &ran["steps"][0]["ops"]["select"];
    for name in ["p50_us", "p95_us", "p99_us", "p999_us"] {
        assert!(select[name].is_null(), "{select:#}");
    }
    assert!(ran["findings"].to_string().contains("not-sustained"), "{ran:#}");
    let csv = String::from_utf8(cli.run(&["export"]).stdout).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let percentile = |name: &str| ["_p50", "_p95", "_p99"].iter().any(|part| name.contains(part));
    for (name, value) in rows[0].iter().zip(&rows[1]).filter(|(name, _)| percentile(name)) {
        assert!(value.is_empty(), "{name} is {value}");
    }
    let text = String::from_utf8(cli.run(&["show"]).stdout).unwrap();
    let row = text.lines().find(|line| line.trim_start().starts_with("select ")).unwrap();
    assert!(row.matches('-').count() >= 4, "{text}");
}

#[test]
fn contradictory_keys_and_impossible_shares_are_refused() {
    let cli = Cli::new();
    let on_null = ["run", "--target", "null:", "--scale", "1000", "--duration", "1s"];
    let cases: [(&[&str], &str); 12] = [
        (&["--hot-spot-size", "100", "--hot-spot-offset", "901"], "outside the scale"),
        (&["--hot-spot-size", "10", "--work-unit", "11"], "does not fit into the hot spot"),
        (&["--hot-spot-share", "50"], "--hot-spot-size"),
        (&["--hot-schema", "100.5"], "0 to 100"),
        (&["--scan-pct", "10"], "--scan-table"),
        (&["--skew", "zipf:1"], "0.001 to 0.999"),
        (&["--skew", "hotset:0%,80%"], "hotset:20%,80%"),
        (&["--think-time", "50ms..10ms"], "ends before it begins"),
        (&["--content", "repeated", "--compress-ratio", "2"], "no ratios"),
        (&["--like", "slob", "--scan-pct", "10"], "like"),
        (&["--rate", "0"], "is not a rate"),
        (&["--commit", "0"], "not a time to commit"),
    ];
    for (keys, hint) in cases {
        let (code, text) = refused(&cli.run(&[&on_null[..], keys].concat()));
        assert_eq!(code, 2, "{keys:?}: {text}");
        assert!(text.contains(hint), "{keys:?}: {text}");
    }
    assert!(is_empty(cli.store.path()));
}

#[test]
fn command_substitution_in_an_old_configuration_is_refused() {
    let cli = Cli::new();
    std::fs::write(cli.store.path().join("slob.conf"), "UPDATE_PCT=25\nSCALE=$(touch ran)\n").unwrap();
    let (code, text) = refused(&cli.run(&["import", "slob.conf", "--output", "mindful.toml"]));
    assert!(code == 2 && text.contains("line 2"), "{text}");
    for name in ["ran", "mindful.toml"] {
        assert!(!cli.store.path().join(name).exists(), "{name}");
    }
}

/// No shell, no compiler, no statistics package: what is needed is in the binary.
#[test]
fn a_run_calls_no_other_program() {
    let cli = Cli::new();
    let mut targets = vec!["null:".to_owned()];
    if cfg!(feature = "sqlite") {
        targets.push(format!("sqlite:{}", cli.store.path().join("blocks.db").display()));
    }
    if cfg!(feature = "raw") {
        targets.push(format!("raw:{}", cli.store.path().join("blocks").display()));
    }
    for target in targets {
        let pauses = ["--think-time", "20ms..20ms"];
        let short = ["--scale", "8MiB", "--schemas", "1", "--warmup", "0s", "--duration", "1s", "--target", &target];
        for verb in ["doctor", "load", "run"] {
            let args = if verb == "load" {
                [&[verb][..], &short[..4], &short[8..]].concat()
            } else {
                [&[verb][..], &pauses, &short].concat()
            };
            let output = cli.command(&args).env("PATH", "").output().unwrap();
            // On a busy machine a second may turn out too short to be valid: all the same it was measured.
            assert!(output.status.code().unwrap() <= 1, "{args:?}: {output:?}");
        }
    }
}

/// As in a container that runs as a number of the cluster's choice.
#[test]
fn a_user_without_home_and_name_stores_runs_where_xdg_says() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root becomes another user");
    }
    let place = quick_place();
    let (binary, data) = (place.path().join("mindful"), place.path().join("data"));
    std::fs::copy(env!("CARGO_BIN_EXE_mindful"), &binary).unwrap();
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(4_000_000), Some(0)).unwrap();
    let mut run = Command::new(&binary);
    run.args(["run", "--target=null:", "--scale=1000", "--null-latency=1ms", "--warmup=0s", "--duration=1s"]);
    run.uid(4_000_000).gid(0).current_dir(place.path()).env_clear().stdin(Stdio::null());
    let (code, text) = refused(&run.output().unwrap());
    assert!(code == 2 && text.contains("--store"), "{code}: {text}");
    let output = run.env("XDG_DATA_HOME", &data).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
    assert!(!is_empty(&data.join("mindful")), "{output:?}");
}

#[test]
#[cfg(feature = "sqlite")]
fn the_usual_limit_of_open_files_does_not_bound_the_sessions() {
    let cli = Cli::new();
    let target = format!("sqlite:{}", cli.store.path().join("blocks.db").display());
    let mut few = Command::new("sh");
    few.args([
        "-c",
        "ulimit -S -n 48 && exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_mindful"),
        "run",
        "--target",
        &target,
    ]);
    few.args(["--schemas", "1", "--scale", "8MiB", "--sessions", "64", "--warmup", "0s", "--duration", "1s"]);
    few.args(["--think-time", "100ms..100ms", "--format", "json"]);
    let output = few.current_dir(cli.store.path()).env("MINDFUL_STORE", cli.store.path()).output().unwrap();
    let run: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"));
    let failed = ["session-error", "failed", "no-step"];
    let findings = run["findings"].as_array().unwrap().iter();
    assert!(findings.clone().all(|finding| !failed.contains(&finding["code"].as_str().unwrap())), "{run:#}");
    assert_eq!(run["steps"][0]["sessions"], 64);
}

#[test]
fn runs_are_listed_by_kind_and_deleted_after_a_question() {
    let cli = Cli::new();
    cli.measured(&["--duration", "1s", "--tag", "one"]);
    let sweep = [
        "sweep",
        "--target",
        "null:",
        "--scale",
        "1000",
        "--null-latency",
        "1ms",
        "--duration",
        "1s",
        "--warmup",
        "100ms",
    ];
    let swept = cli.run(&[&sweep[..], &["--sessions", "1,2", "--tag", "two"]].concat());
    assert!(swept.status.success(), "{swept:?}");
    let listed = |args: &[&str]| String::from_utf8(cli.run(&[&["list"], args].concat()).stdout).unwrap();
    let all = listed(&[]);
    assert!(all.contains("  run  ") && all.contains("sweep, 3 steps"), "{all}");
    assert!(!listed(&["--last", "1"]).contains(" one") && listed(&["--last", "1"]).contains(" two"));
    assert_eq!(cli.run(&["list", "--last", "many"]).status.code(), Some(2));

    let unasked = cli.run(&["delete", "one"]);
    assert_eq!(unasked.status.code(), Some(2), "{unasked:?}");
    let unknown = cli.run(&["delete", "one", "three", "--yes"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert_eq!(listed(&[]), all);
    let args = [
        "run",
        "--target",
        "null:",
        "--scale",
        "1000",
        "--null-latency",
        "1ms",
        "--duration",
        "5m",
        "--tag",
        "going-on",
    ];
    let mut child = cli.command(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !listed(&[]).contains("going-on") {
        std::thread::sleep(Duration::from_millis(50));
    }
    let written = cli.run(&["delete", "going-on", "--yes"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(written.status.code(), Some(2), "{written:?}");

    let deleted = cli.run(&["delete", "one", "two", "going-on", "--yes"]);
    assert!(deleted.status.success() && String::from_utf8_lossy(&deleted.stdout).contains("3 removed"), "{deleted:?}");
    assert_eq!(listed(&[]), "no runs\n");
}

#[test]
fn the_doctor_counts_what_it_found_and_may_fail_a_script() {
    let cli = Cli::new();
    let examined = cli.run(&["doctor", "--target", "null:"]);
    assert!(examined.status.success(), "{examined:?}");
    let text = String::from_utf8(examined.stdout).unwrap();
    assert!(text.lines().last().unwrap().contains("errors, "), "{text}");
    let unreadable = ["doctor", "--target", "null:", "--fail-on", "nothing"];
    assert_eq!(cli.run(&unreadable).status.code(), Some(2));
    let folder = cli.store.path().join("on-tmpfs");
    let raw = format!("raw:{}", folder.display());
    let quiet = cli.run(&["doctor", "--target", &raw, "--fail-on", "error"]);
    assert_eq!(quiet.status.code(), Some(0), "{quiet:?}");
}

#[test]
fn the_least_role_is_printed_as_sql() {
    let cli = Cli::new();
    let printed = cli.run(&["engines", "postgres", "--grants"]);
    let text = String::from_utf8(printed.stdout).unwrap();
    for right in ["CREATE ROLE", "GRANT CREATE, TEMPORARY ON DATABASE", "pg_monitor", "pg_checkpoint"] {
        assert!(text.contains(right), "{right}: {text}");
    }
    assert_eq!(cli.run(&["engines", "null", "--grants"]).status.code(), Some(2));
    assert_eq!(cli.run(&["engines", "oracel"]).status.code(), Some(2));
}
