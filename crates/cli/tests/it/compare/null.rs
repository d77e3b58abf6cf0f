//! Comparisons on the null engine, with known differences.

use std::path::Path;
use std::process::Command;

use mindful_conformance::not_run;
use rustix::process::Signal;
use serde_json::Value;

use crate::mindful::{Mindful, assert_has, ended, id, json, message, null, printed, wait_until};
use crate::stops::signal;

fn plan(mindful: &Mindful, name: &str, latency: &str) -> String {
    let text = format!(
        "target = \"null:\"\nscale = 1000\nwarmup = \"200ms\"\nduration = \"1s\"\nsessions = 2\nwork_unit = 1\n\
         null_latency = \"{latency}\"\n"
    );
    std::fs::write(mindful.path(name), text).unwrap();
    name.to_owned()
}

#[test]
fn plans_run_in_turn_are_compared_and_a_gate_has_its_exit_code() {
    let mindful = Mindful::new();
    let (slow, fast) = (plan(&mindful, "slow.toml", "40ms"), plan(&mindful, "fast.toml", "20ms"));
    // Compared with these latencies a wait for a CPU is short. The CPU use of others does not reach this margin, but a
    // halved latency does.
    let compared = || mindful.json(format!("compare --repeat 4 --margin 40 --run {slow} {fast}"));
    // One run without CPU leaves four runs a side undecided.
    let decided = (0..2).map(|_| compared()).find(|report| report["verdict"] != "not_decided");
    let compared = decided.unwrap_or_else(compared);
    assert_eq!(compared["verdict"], "faster", "{compared:#}");
    assert!((compared["ratio"].as_f64().unwrap() - 2.0).abs() < 0.5, "{compared:#}");
    let (of_select, median) = (&compared["latency"][0], &compared["latency"][0]["shifts"][0]);
    assert_eq!((&of_select["kind"], &median["percentile"]), (&"select".into(), &50.0.into()), "{compared:#}");
    assert!((median["ratio"].as_f64().unwrap() - 0.5).abs() < 0.1 && median["basis"] == "runs", "{compared:#}");
    assert_eq!(compared["names"]["candidate"], "fast.toml", "{compared:#}");
    let (one, median) = (&compared["runs"]["candidate"][0]["value"], &compared["medians"]["candidate"]);
    assert!(one.as_f64().unwrap() > 50.0 && median.as_f64().unwrap() > 50.0, "{compared:#}");
    let args = format!("compare --repeat 4 --fail-if slower>5% --junit gate.xml --run {fast} {slow}");
    let gated = mindful.run(&args);
    assert_eq!(gated.status.code(), Some(4), "{gated:?}");
    valid_junit(&mindful.path("gate.xml"), 1);
    let again = mindful.run(&args);
    assert_eq!(again.status.code(), Some(2), "not replaced, and nothing run: {again:?}");
    let progress = message(&gated);
    assert!(progress.starts_with("8 runs, about 34 s\n"), "{progress}");
    assert_has(
        progress,
        "\nrun 1 of 8 (fast.toml)…\nrun 3 of 8 (slow.toml); left: 6 runs…\nrun 8 of 8 (fast.toml); left: 1 run",
    );
    let text = printed(&gated);
    both_sides_are_named(&text);
    assert!(text.ends_with("gate 'slower>5%': crossed\n"), "{text}");
}

#[test]
fn an_interrupted_comparison_offers_that_of_its_runs() {
    let mindful = Mindful::new();
    let plans = [plan(&mindful, "a.toml", "1ms"), plan(&mindful, "b.toml", "2ms")];
    let child = mindful.start_piped(format!("compare --repeat 9 --run {}", plans.join(" ")));
    wait_until("no third run begins", || mindful.count_runs() > 2);
    signal(&child, Signal::INT);
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130), "{interrupted:?}");
    let message = message(&interrupted);
    let (_, offered) = message.split_once("stored: `mindful ").unwrap_or_else(|| panic!("{message}"));
    let compared = mindful.text(offered.split('`').next().unwrap());
    assert!(compared.contains("one run a side") || compared.contains("NOT DECIDED"), "{compared}");
}

/// The file is a test report that Jenkins reads, with so many failures.
fn valid_junit(file: &Path, failures: usize) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/junit/junit-10.xsd");
    match Command::new("xmllint").args(["--noout", "--nonet", "--schema"]).arg(schema).arg(file).output() {
        Ok(read) => assert!(read.status.success(), "{read:?}"),
        Err(_) => not_run("no xmllint here: apt-get install libxml2-utils"),
    }
    let xml = std::fs::read_to_string(file).unwrap();
    assert_eq!(xml.matches("<failure type=\"crossed\"").count(), failures, "{xml}");
    assert!(xml.contains(&format!("failures=\"{failures}\"")) && xml.contains("<property name=\"gate\""), "{xml}");
}

/// Verdict first, with names, figures and what the difference is; then a line a run.
fn both_sides_are_named(text: &str) {
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("SLOWER: slow.toml "), "{first}");
    assert_has(first, " blocks/s, fast.toml … (medians of 4): -… % interval -");
    let runs = |begins: &str| {
        let lines = text.lines().filter(|line| line.starts_with(begins));
        lines.filter(|line| line.contains(" blocks/s")).count()
    };
    assert_eq!([runs("baseline   fast.toml  "), runs("candidate  slow.toml  ")], [4, 4], "{text}");
}

#[test]
fn runs_too_few_to_decide_are_made_with_a_warning() {
    let mindful = Mindful::new();
    let plan = plan(&mindful, "one.toml", "2ms");
    for (repeat, warning) in [("2", "2 runs a side cannot show"), ("1", "one run a side cannot decide")] {
        let ran = mindful.run(format!("compare --run {plan} {plan} --repeat {repeat} -q"));
        assert_has(message(&ran), format!("{warning}…--repeat 4"));
        assert_eq!(message(&ran).lines().count(), 1, "{ran:?}");
        // One plan, two sides.
        assert_has(printed(&ran), ": candidate ");
    }
}

/// Three runs a side can never reach 95 %: such a gate would always pass.
#[test]
fn a_gate_that_can_never_decide_is_refused_before_anything_runs() {
    let mindful = Mindful::new();
    let plan = plan(&mindful, "one.toml", "2ms");
    let compare = format!("compare --run {plan} {plan} --fail-if slower>5% --repeat 3");
    mindful.refuses(compare, "3 runs against 3 cannot show…--repeat 4");
    assert!(!mindful.runs().exists());
}

/// Eight runs of one plan: no margin this small can be distinguished from their noise.
#[test]
fn a_gate_that_is_not_decided_fails_unless_it_is_asked_to_pass() {
    let mindful = Mindful::new();
    for (tag, latency) in [("one", "1ms"), ("two", "2ms"), ("one", "2ms"), ("two", "1ms")].repeat(2) {
        with_a_sound_figure(&mindful, &format!("--duration 300ms --tag {tag} --null-latency {latency}"), |_| true);
    }
    let compare = |more: &str| mindful.run(("compare one two --force --fail-if slower>0.1%", more));
    for (more, code, end) in
        [("", 4, "failed (--undecided fail)"), ("--undecided pass", 0, "passed (--undecided pass)")]
    {
        let output = compare(more);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        assert!(printed(&output).ends_with(&format!("gate 'slower>0.1%': undecided, {end}\n")), "{output:?}");
    }
    let output = compare("--format json");
    assert_eq!((output.status.code(), &json(&output)["gate"]["outcome"]), (Some(4), &"undecided".into()));
    assert_has(message(&output), "undecided");
}

#[test]
fn incomparable_runs_are_refused_with_the_differing_facts() {
    let mindful = Mindful::new();
    for (tag, unit) in [("narrow", "1"), ("wide", "16")] {
        mindful.succeed(null("run", format!("--warmup 200ms --tag {tag} --work-unit {unit}")));
    }
    mindful.refuses("compare narrow wide", "work unit (1…--force");
    let forced = mindful.json("compare narrow wide --force");
    assert_eq!(forced["differing_facts"][0]["fact"], "work unit", "{forced:#}");
    let ranked = mindful.json("compare narrow wide --by throughput --force");
    let places = ["baseline", "candidate"].map(|side| &forced["place"][side]);
    for (place, group) in places.iter().zip(ranked["groups"].as_array().unwrap()) {
        assert_eq!(*place, &group["sides"][0]["place"], "{ranked:#}");
        assert!(place.as_array().unwrap().iter().any(|fact| fact["name"] == "zone"), "{place:#}");
    }
}

#[test]
fn an_invalid_run_is_refused_and_a_suspect_one_labelled() {
    let mindful = Mindful::new();
    for (tag, more) in [
        ("sound", ""),
        ("broken", "--duration 4s --null-fail 1@2500ms"),
        ("doubtful", "--hook-before 'exit 3' --hook-failure warn"),
    ] {
        mindful.run(null("run", (format!("--warmup 200ms --null-latency 2ms --sessions 2 --tag {tag}"), more)));
    }
    mindful.refuses("compare sound broken", "of the candidate is invalid (session-error…--force");
    mindful.shows("compare sound broken --force", "(INVALID: session-error");
    let text = mindful.text("compare sound doubtful");
    let line = text.lines().find(|line| line.starts_with("candidate ")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains("(SUSPECT: ") && line.contains("hook-failed"), "{text}");
    let compared = mindful.json("compare sound doubtful");
    assert_eq!(compared["runs"]["candidate"][0]["validity"], "suspect", "{compared:#}");
}

/// The id of a run by `args` with a sound figure. A busy host may disturb a window this short; such a run is deleted.
fn with_a_sound_figure(mindful: &Mindful, args: &str, is_sound: impl Fn(f64) -> bool) -> Value {
    let once = || mindful.measured(args);
    let runs = std::iter::repeat_with(once).take(10);
    let mut figured = runs.skip_while(|run| {
        let unsound = !run["steps"][0]["blocks_visited_per_s"].as_f64().is_some_and(&is_sound);
        if unsound {
            std::fs::remove_dir_all(mindful.run_folder(run)).unwrap();
        }
        unsound
    });
    figured.next().expect("no run has such a figure")["id"].clone()
}

#[test]
fn a_history_names_the_run_at_which_the_level_changed() {
    let mindful = Mindful::new();
    let mut ids = Vec::new();
    for (latency, rate) in [[("10ms", 400.0); 5], [("40ms", 100.0); 5]].concat() {
        let work = format!("--tag night --work-unit 1 --sessions 4 --null-latency {latency}");
        // A run that others disturbed does not count.
        let near = |figure: f64| (figure / rate - 1.0).abs() < 0.2;
        ids.push(with_a_sound_figure(&mindful, &work, near));
    }
    // Windows this short may be invalid if others use the CPU, but their rates are usable.
    let ask = "compare --history night --force --margin 20";
    let compared = mindful.json(ask);
    let changes = compared["changes"].as_array().unwrap();
    assert!(changes.len() == 1 && changes[0]["at"] == 5, "{compared:#}");
    assert!((0.15..0.4).contains(&compared["last_by_first"].as_f64().unwrap()), "a quarter: {compared:#}");
    assert_eq!(compared["runs"][5]["id"], ids[5], "{compared:#}");
    mindful.shows(ask, format!("from run {} (6 of 10) on", ids[5].as_str().unwrap()));
    let gated =
        |gate: &str| mindful.run(format!("compare --history night --force --fail-if '{gate}' --junit night.xml --yes"));
    assert_eq!(gated("slower>20%").status.code(), Some(4));
    valid_junit(&mindful.path("night.xml"), 1);
    assert_eq!(gated("faster>20%").status.code(), Some(0));
    valid_junit(&mindful.path("night.xml"), 0);
}

#[test]
fn whole_sweeps_are_compared_by_their_curves() {
    let mindful = Mindful::new();
    for (tag, capacity) in [("few", "4"), ("many", "8")] {
        // A wait for a CPU is short compared with this: the curves are fitted to latencies too.
        let work = format!("--work-unit 1 --null-latency 20ms --null-capacity {capacity} --tag {tag}");
        let ran = mindful.run(null("sweep", (work, "--sessions 1,2,4,6,8,12,16")));
        // A window that a busy host cut short makes the sweep invalid (1), but its rates are usable.
        assert!(ended(&ran), "{ran:?}");
    }
    let sides = "compare few many --force";
    let compared = mindful.json(sides);
    let ratios = &compared["curves"][0]["ratios"];
    let ratio = |name: &str| ratios[name]["ratio"].as_f64().unwrap_or_else(|| panic!("{compared:#}"));
    // A busy host slows some steps: then the intervals are wide, but still contain the truth.
    for (name, truth) in [("capacity", 2.0), ("asymptote", 2.0), ("zero_load", 1.0)] {
        let [low, high] = ["low", "high"].map(|end| ratios[name]["interval"][end].as_f64().unwrap());
        assert!(low < truth * 1.15 && high > truth / 1.15, "{name}: {ratios:#}");
    }
    assert!((1.4..2.8).contains(&ratio("capacity")), "{ratios:#}");
    assert_eq!(compared["points"].as_array().unwrap().len(), 7, "{compared:#}");
    let parts = "p95 of a select at sessions 8: …sessions at the knee…as a page: mindful export ";
    mindful.shows(sides, format!("{parts}… --as html --output compare.html"));
}

#[test]
fn a_noise_floor_is_kept_and_widens_single_runs() {
    let mindful = Mindful::new();
    let plan = plan(&mindful, "plan.toml", "5ms");
    let noise = mindful.json(format!("run --plan {plan} --repeat 3"));
    assert_eq!(noise["floor"]["runs"], 3, "{noise:#}");
    let ids = [0, 1].map(|run| noise["runs"][run].as_str().unwrap());
    assert_eq!(mindful.json(("compare", &ids))["basis"], "noise_floor");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_page_without_names_knows_the_noise_floor_of_its_target() {
    let mindful = Mindful::new();
    let target = "sqlite:acme.db";
    let plan = plan(&mindful, "plan.toml", "5ms");
    mindful.succeed(format!("run --plan {plan} --repeat 3"));
    // A stored noise floor of another target.
    let kept = mindful.path("noise.json");
    let floor = std::fs::read_to_string(&kept).unwrap();
    assert!(floor.contains("\"null:\""), "{floor}");
    std::fs::write(kept, floor.replace("\"null:\"", &format!("\"{target}\""))).unwrap();
    let ran = || mindful.json(format!("run --target {target} --scale 1MiB --sessions 1 --warmup 0s --duration 1s"));
    let ids = [ran(), ran()].map(|ran| id(&ran).to_owned()).join(" ");
    for more in ["", "--redact"] {
        let page = mindful.text((format!("export --as html {ids}"), more));
        assert_eq!(page.contains("acme.db"), more.is_empty(), "{page}");
        assert!(page.contains("the interval includes this platform"), "{more:?}: {page}");
    }
}

#[test]
fn hooks_surround_every_repetition_and_a_failed_one_ends_it() {
    let mindful = Mindful::new();
    let hooked = |name: &str, before: &str| {
        let name = plan(&mindful, name, "5ms");
        let path = mindful.path(&name);
        let keys = std::fs::read_to_string(&path).unwrap();
        let hook = "echo $MINDFUL_PHASE of $MINDFUL_RUN_ID";
        let hooks = format!("hook_before = \"{before}\"\nhook_after = \"{hook}\"\nhook_end = \"{hook}\"\n");
        std::fs::write(path, keys + &hooks).unwrap();
        name
    };
    let (a, b) = (hooked("a.toml", "echo ready"), hooked("b.toml", "echo ready"));
    let output = mindful.run(format!("compare --run {a} {b} --repeat 3"));
    assert!(matches!(output.status.code(), Some(0 | 4)), "{output:?}");
    let runs: Vec<_> = mindful.runs().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let id = run.file_name().unwrap().to_str().unwrap();
        let said = |phase: &str| std::fs::read_to_string(run.join(format!("hook-{phase}.out"))).unwrap();
        let expected = ["ready\n".to_owned(), format!("after of {id}\n"), format!("end of {id}\n")];
        assert_eq!(["before", "after", "end"].map(said), expected);
    }
    let broken = hooked("broken.toml", "exit 3");
    let refused = mindful.run(format!("compare --run {a} {broken} --repeat 3"));
    assert!(!refused.status.success() && message(&refused).contains("hook before failed"), "{refused:?}");
}

#[test]
fn an_imported_run_is_compared_without_this_hosts_noise_floor() {
    let (there, here) = (Mindful::new(), Mindful::new());
    let slow = "--sessions 2 --null-latency 10ms";
    let hook = format!("--hook-end 'touch {}' --hook-failure warn", here.path("touched").display());
    for (mindful, tag) in [(&there, "theirs"), (&here, "ours"), (&here, "ours-too")] {
        let ran = mindful.run(null("run", (slow, &hook, format!("--tag {tag}"))));
        assert!(ended(&ran), "{ran:?}");
    }
    here.succeed(null("run", (slow, "--repeat 2")));
    let theirs = std::fs::read_dir(there.runs()).unwrap().next().unwrap().unwrap().path();
    here.succeed(["import", theirs.to_str().unwrap()]);
    std::fs::remove_file(here.path("touched")).unwrap();
    let basis = |a: &str, b: &str| here.json(format!("compare --force {a} {b}"))["basis"].clone();
    assert_eq!(basis("ours", "ours-too"), "noise_floor");
    assert_eq!([basis("theirs", "ours"), basis("ours", "theirs")], ["within_run", "within_run"]);
    assert!(!here.path("touched").exists(), "no hook of theirs is run");
}
