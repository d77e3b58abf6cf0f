//! Runs on a private PostgreSQL.

use mindful_conformance::processes::working_in;
use mindful_conformance::{place, quick_place};

use crate::mindful::private::copy_to;
use crate::mindful::{Mindful, PAUSES, assert_has, cell, ended, figure, proofs, refused, short_run, unwrapped};

/// With a private server, next to other tests.
fn quick() -> Mindful {
    Mindful::beside_others(quick_place()).with_private()
}

#[test]
fn a_private_server_works_in_a_folder_of_any_name() {
    let mindful = Mindful::beside_others(quick_place());
    let run =
        |args: &str, name: &str| mindful.command(args).arg("--data-dir").arg(mindful.path(name)).output().unwrap();
    let measured = short_run(("--target embedded", PAUSES)).join(" ");
    for name in ["a,b c", "g\"h'i\\j", "-k:l;m$o%p#q"] {
        copy_to(&mindful.path(name));
        for verb in [&measured, "cleanup --yes"] {
            let output = run(verb, name);
            assert!(ended(&output), "{name}: {output:?}");
        }
        assert!(!mindful.path(name).exists(), "{name}");
    }
    assert!(refused(&run("run", "a\nb")).contains("control character"));
}

#[test]
fn updates_commit_one_by_one_and_the_mix_is_exact() {
    let mindful = quick();
    // Commits of sessions reach the server's counter at the end of a slice, late on a busy host.
    let paced = "--think-time 5ms..5ms --duration 9s";
    let ran = mindful.private_run(("--update-pct 30 --work-unit 4 --cache 16MiB", paced)).run;
    let step = &ran["steps"][0];
    assert!((figure(step, "update_pct_realised") - 30.0).abs() < 0.2, "{step:#}");
    let (updates, commits) = (figure(&step["ops"]["update"], "per_s"), figure(step, "commits_per_s"));
    // Reads of the counters commit a few dozen times a second, a good part on a busy host.
    assert!((commits - updates).abs() < 0.15 * updates + 25.0, "{commits} commits for {updates} updates");
    assert!(figure(step, "log_bytes_per_s") > 0.0);
    mindful.shows("show --full", "blocks updated…WAL writes…by sessions…by checkpoints…by the background writer");
    let csv = mindful.text("export --as csv");
    assert!(cell(&csv, 1, "log_writes_per_s").parse::<f64>().unwrap() > 0.0, "{csv}");
}

#[test]
fn reads_after_updates_write_nothing() {
    let mindful = quick();
    mindful.private_run(("--update-pct 50 --work-unit 4", PAUSES));
    let reads = mindful.private_run(PAUSES).run;
    assert!(!reads["findings"].to_string().contains("writes-without-updates"), "{reads:#}");
    assert!(figure(&reads["steps"][0], "physical_writes_per_s") < 50.0, "{reads:#}");
}

/// The server reads a table past its cache when it is larger than a quarter of it.
#[test]
fn scans_are_reported_to_be_direct_or_cached_as_they_were() {
    let mindful = quick();
    let scans = "--namespace scanned --scan-table 8MiB --scan-pct 5 --warmup 1s";
    for (buffers, direct, sentence) in [("16MB", true, "scans were direct"), ("128MB", false, "scans were cached")] {
        let report = mindful.private_run((scans, PAUSES, format!("--set shared_buffers={buffers}")));
        let share = report.figure("scan_direct_share");
        assert_eq!(share > 0.95, direct, "{share} with {buffers}: {report}");
        assert_eq!(share < 0.05, !direct, "{share} with {buffers}: {report}");
        assert!(report.text.contains(sentence), "{report}");
    }
}

#[test]
fn a_cached_run_is_not_called_storage() {
    let mindful = quick();
    let cached = mindful.private_run("--mode lio");
    assert!(cached.figure("hit_ratio") > 0.99, "{cached}");
    assert_ne!(cached.validity(), "invalid", "{cached}");
    assert!(!cached.has("page-cache"), "what is cached claims nothing of storage: {cached}");
    assert!(cached.text.contains("database cache") && !cached.text.contains("storage IOPS"), "{cached}");
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    #[test]
    fn the_default_reads_physically_and_reuses_server_and_data() {
        let mindful = Mindful::alone(place());
        let first = mindful.private_run("--scale 64MiB").run;
        assert!(first["dataset"]["load_s"].is_number(), "{first:#}");
        let step = &first["steps"][0];
        let physical = figure(step, "physical_reads_per_s");
        let by_processes = figure(step, "process_reads_per_s");
        assert!((by_processes / physical - 1.0).abs() < 0.05, "direct I/O: {by_processes} of {physical}");
        assert!(figure(step, "blocks_visited_per_s") > 0.0 && figure(step, "start_skew_ms") >= 0.0);
        let second = mindful.private_run("--scale 64MiB --seed 2").run;
        assert!(second["dataset"]["load_s"].is_null(), "{second:#}");
        proofs::hold(&first, &second, &mindful.text("show --full"));
        assert!(working_in(&mindful.private_folder()).is_empty(), "the server stops with the run");
    }

    #[test]
    fn the_cost_of_a_physical_read_is_known_after_a_cached_run() {
        const MARGINAL: &str = "db_us_per_physical_read_marginal";
        let mindful = Mindful::alone(place());
        let alone = mindful.private_run("--scale 64MiB --duration 500ms").run;
        assert!(alone["steps"][0]["cpu"][MARGINAL].is_null(), "{alone:#}");
        mindful.shows(["show", "--explain", MARGINAL], "unknown when no cached run");
        // Next to other tests it may take seconds until all of it was read once.
        let is_cached = ["500ms", "3s", "9s"].into_iter().any(|warmup| {
            let cached = format!("--scale 64MiB --mode lio --duration 1s --warmup {warmup}");
            let cached = mindful.private_run(cached).run;
            figure(&cached["steps"][0], "hit_ratio") >= 0.999
        });
        assert!(is_cached, "a cache that holds all of the data serves all of it");
        let beside = mindful.private_run("--scale 64MiB").run;
        let cpu = &beside["steps"][0]["cpu"];
        let (added, all) = (figure(cpu, MARGINAL), figure(cpu, "db_us_per_physical_read"));
        assert!(added > 0.0 && added < all, "{added} us of {all} us");
        assert_has(unwrapped(&mindful.text("show --full")), "us more than one from the cache");
        let other = mindful.private_run("--scale 64MiB --work-unit 8 --duration 500ms").run;
        assert!(other["steps"][0]["cpu"][MARGINAL].is_null(), "another work unit costs something else: {other:#}");
    }

    #[test]
    fn watching_costs_under_a_percent_and_its_cost_is_reported() {
        let mindful = Mindful::alone(place()).with_private();
        let ran = mindful.private_run("--duration 3s").run;
        let cpu = &ran["steps"][0]["cpu"];
        assert!(figure(cpu, "wait_sampling_share") > 0.0, "{cpu:#}");
        let states = ["on_cpu", "in_run_queue", "asleep"].map(|state| figure(cpu, &format!("sessions_{state}_share")));
        assert!((states.iter().sum::<f64>() - 1.0).abs() < 0.02 && states[0] > 0.0, "{cpu:#}");
        assert!(!ran["findings"].to_string().contains("wait-sampling-cost"), "{cpu:#}");
        let text = mindful.text("show --explain watching_cores");
        let grew = |counter: &str| {
            let (_, readings) = text.split_once(&format!("{counter} from")).unwrap_or_else(|| panic!("{text}"));
            let readings = readings.lines().next().unwrap().replace(',', "");
            let mut readings = readings.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
            -readings.next().unwrap() + readings.next().unwrap()
        };
        let parts = ["observer_cpu", "settled_observer_cpu", "sampling_cpu"].map(|part| grew(&format!(" {part}")));
        assert!(parts.iter().all(|us| *us > 0.0), "{text}");
        let cores = parts.iter().sum::<f64>() / 1e6 / figure(&ran["steps"][0], "duration_s");
        assert!(figure(cpu, "watching_cores") > cores * 0.95, "{cores} cores by these three alone: {text}");
    }
}
