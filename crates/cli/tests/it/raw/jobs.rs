//! Jobs on files: their stored and printed results, and the data they never write.

use std::fs;
use std::os::unix::fs::FileExt as _;

use serde_json::Value;

use crate::mindful::{HOOKS, Mindful, assert_has, assert_hooks_ran, figure, message, printed, refused_with, steps};
use crate::raw::place::{disturbed, raw, text, with_blocks, write_foreign};

#[test]
fn a_preset_measures_its_ladder_and_reports_the_best() {
    let mindful = with_blocks();
    let summary = raw(&mindful, "blocks --preset oltp --num-small 3");
    let loads: Vec<_> = steps(&summary).iter().map(|s| (text(s, "small"), text(s, "large"))).collect();
    assert_eq!(loads, [("1", "0"), ("2", "0"), ("3", "0")]);
    for (step, depth) in steps(&summary).iter().zip(1..) {
        assert_eq!((step["iodepth"].as_u64(), step["block_bytes"].as_u64()), (Some(depth), Some(8_192)));
        assert_eq!(step["sessions"], 1);
        // A block an operation, and Little's law: as many in flight as the point has.
        let op = &step["ops"]["select"];
        let in_flight = figure(op, "per_s") * figure(op, "mean_us") / 1e6;
        // On a busy host a session waits for a CPU between its operations: then there are fewer in flight.
        let off = in_flight / depth as f64 - 1.0;
        assert!(off < 0.25 && (off > -0.25 || disturbed(step)), "{in_flight} in flight at {depth}: {step:#}");
    }
    let most = steps(&summary).iter().filter_map(|s| s["ops"]["select"]["per_s"].as_f64()).fold(0.0, f64::max);
    assert_eq!(summary["io_job"]["most_small_per_s"]["value"].as_f64(), Some(most));
    let little = summary["findings"].to_string().contains("\"little\"");
    assert!(!little || steps(&summary).iter().any(disturbed), "{summary:#}");
    assert_eq!(mindful.count_runs(), 1);
    mindful.shows("show --full", "most small I/Os per second…3 points on raw:");
}

#[test]
fn a_matrix_is_written_as_the_files_that_scripts_read() {
    let mindful = with_blocks();
    let summary = raw(&mindful, "blocks --matrix detailed --num-small 2 --num-large 1 --csv m");
    assert_eq!(steps(&summary).len(), 5);
    let large_only = steps(&summary).iter().find(|s| text(s, "small") == "0").unwrap();
    assert_eq!((large_only["iodepth"].as_u64(), large_only["block_bytes"].as_u64()), (Some(1), Some(65_536)));
    let read = |end: &str| fs::read_to_string(mindful.path(format!("m{end}"))).unwrap();
    // The cells that hold a figure: every point with small, or with large I/Os.
    let cells = |text: &str| -> Vec<Vec<bool>> {
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').skip(1).map(|cell| cell.trim().parse::<f64>().is_ok()).collect()).collect()
    };
    for end in ["_iops.csv", "_lat.csv"] {
        let file = read(end);
        assert_eq!(file.lines().next(), Some("Large/Small, 0, 1, 2"), "{end}");
        assert_eq!(cells(&file), [[false, true, true], [false, true, true]], "{end}: {file}");
    }
    assert_eq!(cells(&read("_mbps.csv")), [[false, false, false], [true, true, true]]);
    let counted: u64 =
        read("_hist.csv").lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse::<u64>().unwrap()).sum();
    let ops = |s: &Value| ["select", "scan"].iter().filter_map(|k| s["ops"][k]["count"].as_u64()).sum::<u64>();
    let summed: u64 = steps(&summary).iter().map(ops).sum();
    let ratio = counted as f64 / summed as f64;
    assert!((ratio - 1.0).abs() < 0.02, "{counted} in the histograms, {summed} in the summary");
    mindful.refuses("raw blocks --matrix basic --csv m", "exists");
}

#[test]
fn a_calibration_keeps_its_limit_and_says_so_in_microseconds() {
    let mindful = with_blocks();
    let summary = raw(&mindful, "blocks --preset calibrate --limit 50ms");
    let job = &summary["io_job"];
    assert_eq!(job["limit_us"].as_f64(), Some(50_000.0));
    let most = &job["most_small_per_s"];
    assert!(figure(most, "value") > 0.0 && figure(most, "mean_us") <= 50_000.0, "{job:#}");
    assert!(figure(&job["most_large_mib_per_s"], "value") > 0.0, "{job:#}");
    mindful.shows("show --full", "at a mean latency up to 50.0 ms");
    // No device answers within a microsecond: one attempt, and no answer.
    let summary = raw(&mindful, "blocks --preset calibrate --limit 1us");
    assert_eq!(summary["io_job"]["most_small_per_s"], Value::Null);
    assert_eq!(steps(&summary).iter().filter(|s| text(s, "large") == "0").count(), 1);
    mindful.shows("show --full", "no load kept the limit");
}

#[test]
fn spans_are_measured_in_turn_each_on_its_part() {
    let mindful = with_blocks();
    let summary = raw(&mindful, "blocks --spans outer,inner,mix,full --iodepth 2");
    let spans: Vec<_> = steps(&summary).iter().map(|s| text(s, "span")).collect();
    assert_eq!(spans, ["outer", "inner", "mix", "full"]);
    let blocks: Vec<_> = steps(&summary).iter().map(|s| s["scale"].as_u64().unwrap()).collect();
    assert!(blocks[..3].iter().all(|part| part.abs_diff(blocks[3] / 10) <= 3), "{blocks:?}");
    assert!(steps(&summary).iter().all(|s| s["iodepth"] == 2));
    // The load is the same in each: it is reported once, and the latency is compared.
    let shown = mindful.text("show --full");
    let header = shown.lines().find(|line| line.trim_start().starts_with("span")).unwrap();
    assert_eq!(header.split_whitespace().take(3).collect::<Vec<_>>(), ["span", "IOPS", "mean"], "{shown}");
    assert_has(&shown, "I/Os of 8 KiB, 2 in flight…mean latency from");
}

#[test]
fn all_schemas_of_a_file_are_read_as_one() {
    let mindful = Mindful::on_disk();
    mindful.succeed("load --target raw:blocks --schemas 4 --scale 4MiB");
    // Enough blocks that they cannot all be of one schema by chance, without a time limit for a busy device.
    let work = "--verify on --ops 2000 --warmup 0s --guard 1m";
    let job = |more: &str| mindful.run(("raw blocks --preset oltp --num-small 1", work, more));
    assert!(job("").status.success(), "{:?}", job(""));
    // The content of the last schema is wrong: a reader of the whole file must find it.
    let file = fs::OpenOptions::new().write(true).open(mindful.path("blocks")).unwrap();
    let bytes = file.metadata().unwrap().len();
    file.write_all_at(&vec![0; 4 << 20], bytes - (4 << 20)).unwrap();
    let first = job("--schemas 1");
    assert!(first.status.success(), "the first schema is whole: {first:?}");
    assert_has(message(&first), "hold 4 schemas and 1 of them are read");
    for output in [job(""), mindful.run(("raw blocks", work))] {
        assert!(!output.status.success(), "{output:?}");
        assert!(!message(&output).contains("schemas"), "{output:?}");
    }
}

#[test]
fn a_new_file_is_as_large_as_the_scale_and_no_finding() {
    let mindful = Mindful::on_disk();
    for args in ["new --scale 8MiB", "new --spans full"] {
        let summary = raw(&mindful, args);
        assert_eq!(steps(&summary)[0]["scale"], 1_024);
        assert!(!summary["findings"].to_string().contains("layout"), "{summary:#}");
    }
}

#[test]
fn without_a_preset_it_is_one_step_of_single_blocks() {
    let mindful = with_blocks();
    let summary = raw(&mindful, "blocks --iodepth 4");
    let step = &steps(&summary)[0];
    assert_eq!((steps(&summary).len(), step["work_unit"].as_u64(), step["sessions"].as_u64()), (1, Some(1), Some(1)));
    assert_eq!((step["iodepth"].as_u64(), step["block_bytes"].as_u64()), (Some(4), Some(8_192)));
    assert_eq!(summary["io_job"], Value::Null);
}

#[test]
fn a_file_of_someone_else_is_read_and_never_written() {
    let mindful = Mindful::on_disk();
    let before = write_foreign(&mindful);
    let summary = raw(&mindful, "foreign --preset simple --num-small 1 --num-large 1");
    assert!(figure(&steps(&summary)[0]["ops"]["select"], "count") > 0.0, "{summary:#}");
    for verb in ["raw foreign", "raw foreign --preset oltp", "run --target raw:foreign"] {
        let output = mindful.run((verb, "--update-pct 20"));
        assert_has(refused_with(if output.status.code() == Some(3) { 3 } else { 2 }, &output), "foreign");
    }
    assert_has(printed(&mindful.run("cleanup --yes --target raw:foreign")), "keep");
    assert_eq!(mindful.count_runs(), 1, "what was refused left no run");
    assert!(fs::read(mindful.path("foreign")).unwrap() == before, "the file was written");
}

#[test]
fn an_impossible_measurement_is_refused_in_one_line() {
    let mindful = Mindful::on_disk();
    write_foreign(&mindful);
    mindful.refuses_all([
        ("raw", "mindful raw PATH"),
        ("raw --target null:", "measures files"),
        ("raw foreign --target raw:x", "drop one of them"),
        ("raw foreign --preset fast", "calibrate"),
        ("raw foreign --preset oltp --matrix row", "drop one of them"),
        ("raw foreign --preset oltp --iodepth 4", "--iodepth"),
        ("raw foreign --matrix row", "--num-large"),
        ("raw foreign --limit 1ms", "--limit"),
        ("raw foreign --preset calibrate --limit 5", "not a time"),
        ("raw foreign --spans outer,upper", "upper"),
        ("raw foreign --csv m", "--csv"),
        ("raw foreign --preset oltp --csv no/m", "no folder no"),
        ("raw foreign --block-size 128KiB --large-iodepth 1 --large-size 64KiB", "smaller than a block…--large-size"),
    ]);
    assert_has(refused_with(3, &mindful.run("raw no/such/folder/blocks --scale 1MiB")), "folder");
    assert!(mindful.count_runs() == 0 && !mindful.path("no").exists());
}

#[test]
fn hooks_are_called_around_a_job() {
    let mindful = with_blocks();
    let ran = raw(&mindful, ("blocks --preset oltp --num-small 1", HOOKS));
    assert_hooks_ran(&mindful.run_folder(&ran));
}
