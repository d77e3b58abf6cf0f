//! Jobs on files: their stored and printed results, and the data they never write.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use serde_json::Value;

use crate::mindful::{HOOKS, Mindful, assert_hooks_ran, message, printed, refused_with, steps};
use crate::raw::place::{disturbed, foreign, made, raw, runs, text};

#[test]
fn a_preset_measures_its_ladder_and_reports_the_best() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let summary = raw(&mindful, &path, "--preset oltp --num-small 3");
    let loads: Vec<_> = steps(&summary).iter().map(|s| (text(s, "small"), text(s, "large"))).collect();
    assert_eq!(loads, [("1", "0"), ("2", "0"), ("3", "0")]);
    for (step, depth) in steps(&summary).iter().zip(1..) {
        assert_eq!((step["iodepth"].as_u64(), step["block_bytes"].as_u64()), (Some(depth), Some(8_192)));
        assert_eq!(step["sessions"], 1);
        // A block an operation, and Little's law: as many in flight as the point has.
        let op = &step["ops"]["select"];
        let in_flight = op["per_s"].as_f64().unwrap() * op["mean_us"].as_f64().unwrap() / 1e6;
        // On a busy host a session waits for a CPU between its operations: then there are fewer in flight.
        let off = in_flight / depth as f64 - 1.0;
        assert!(off < 0.25 && (off > -0.25 || disturbed(step)), "{in_flight} in flight at {depth}: {step:#}");
    }
    let most = steps(&summary).iter().filter_map(|s| s["ops"]["select"]["per_s"].as_f64()).fold(0.0, f64::max);
    assert_eq!(summary["io_job"]["most_small_per_s"]["value"].as_f64(), Some(most));
    let little = summary["findings"].to_string().contains("\"little\"");
    assert!(!little || steps(&summary).iter().any(disturbed), "{summary:#}");
    assert_eq!(runs(&mindful), 1);
    let shown = mindful.text("show --full");
    assert!(shown.contains("most small I/Os per second") && shown.contains("3 points on raw:"), "{shown}");
}

#[test]
fn a_matrix_is_written_as_the_files_that_scripts_read() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let csv = mindful.path("m");
    let prefix = csv.to_str().unwrap();
    let summary = raw(&mindful, &path, format!("--matrix detailed --num-small 2 --num-large 1 --csv {prefix}"));
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
    assert!(
        (counted as f64 / summed as f64 - 1.0).abs() < 0.02,
        "{counted} in the histograms, {summed} in the summary"
    );
    mindful.refuses([(format!("raw {path} --matrix basic --csv {prefix}"), "exists")]);
}

#[test]
fn a_calibration_keeps_its_limit_and_says_so_in_microseconds() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let summary = raw(&mindful, &path, "--preset calibrate --limit 50ms");
    let job = &summary["io_job"];
    assert_eq!(job["limit_us"].as_f64(), Some(50_000.0));
    let most = &job["most_small_per_s"];
    assert!(most["value"].as_f64().unwrap() > 0.0 && most["mean_us"].as_f64().unwrap() <= 50_000.0, "{job:#}");
    assert!(job["most_large_mib_per_s"]["value"].as_f64().unwrap() > 0.0, "{job:#}");
    let shown = mindful.text("show --full");
    assert!(shown.contains("at a mean latency up to 50.0 ms"), "{shown}");
    // No device answers within a microsecond: one attempt, and no answer.
    let summary = raw(&mindful, &path, "--preset calibrate --limit 1us");
    assert_eq!(summary["io_job"]["most_small_per_s"], Value::Null);
    assert_eq!(steps(&summary).iter().filter(|s| text(s, "large") == "0").count(), 1);
    let shown = mindful.text("show --full");
    assert!(shown.contains("no load kept the limit"), "{shown}");
}

#[test]
fn spans_are_measured_in_turn_each_on_its_part() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let summary = raw(&mindful, &path, "--spans outer,inner,mix,full --iodepth 2");
    let spans: Vec<_> = steps(&summary).iter().map(|s| text(s, "span")).collect();
    assert_eq!(spans, ["outer", "inner", "mix", "full"]);
    let blocks: Vec<_> = steps(&summary).iter().map(|s| s["scale"].as_u64().unwrap()).collect();
    assert!(blocks[..3].iter().all(|part| part.abs_diff(blocks[3] / 10) <= 3), "{blocks:?}");
    assert!(steps(&summary).iter().all(|s| s["iodepth"] == 2));
    // The load is the same in each: it is reported once, and the latency is compared.
    let shown = mindful.text("show --full");
    let header = shown.lines().find(|line| line.trim_start().starts_with("span")).unwrap();
    assert_eq!(header.split_whitespace().take(3).collect::<Vec<_>>(), ["span", "IOPS", "mean"], "{shown}");
    assert!(shown.contains("I/Os of 8 KiB, 2 in flight") && shown.contains("mean latency from"), "{shown}");
}

#[test]
fn all_schemas_of_a_file_are_read_as_one() {
    let mindful = Mindful::on_disk();
    let path = mindful.path("blocks");
    let name = path.to_str().unwrap();
    mindful.succeed(format!("load --target raw:{name} --schemas 4 --scale 4MiB"));
    // Enough blocks that they cannot all be of one schema by chance, without a time limit for a busy device.
    let work = "--verify on --ops 2000 --warmup 0s --guard 1m";
    let job = |more: &str| mindful.run((&format!("raw {name} --preset oltp --num-small 1"), &work, more));
    assert!(job("").status.success(), "{:?}", job(""));
    // The content of the last schema is wrong: a reader of the whole file must find it.
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let bytes = file.metadata().unwrap().len();
    file.write_all_at(&vec![0; 4 << 20], bytes - (4 << 20)).unwrap();
    let first = job("--schemas 1");
    assert!(first.status.success(), "the first schema is whole: {first:?}");
    let note = message(&first);
    assert!(note.contains("hold 4 schemas and 1 of them are read"), "{note}");
    for output in [job(""), mindful.run((&format!("raw {name}"), &work))] {
        assert!(!output.status.success(), "{output:?}");
        assert!(!message(&output).contains("schemas"), "{output:?}");
    }
}

#[test]
fn a_new_file_is_as_large_as_the_scale_and_no_finding() {
    let mindful = Mindful::on_disk();
    let name = mindful.path("new").display().to_string();
    let made = raw(&mindful, &name, "--scale 8MiB");
    let again = raw(&mindful, &name, "--spans full");
    for summary in [made, again] {
        assert_eq!(steps(&summary)[0]["scale"], 1_024);
        assert!(!summary["findings"].to_string().contains("layout"), "{summary:#}");
    }
}

#[test]
fn without_a_preset_it_is_one_step_of_single_blocks() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let summary = raw(&mindful, &path, "--iodepth 4");
    let step = &steps(&summary)[0];
    assert_eq!((steps(&summary).len(), step["work_unit"].as_u64(), step["sessions"].as_u64()), (1, Some(1), Some(1)));
    assert_eq!((step["iodepth"].as_u64(), step["block_bytes"].as_u64()), (Some(4), Some(8_192)));
    assert_eq!(summary["io_job"], Value::Null);
}

#[test]
fn a_file_of_someone_else_is_read_and_never_written() {
    let mindful = Mindful::on_disk();
    let path = foreign(&mindful);
    let before = fs::read(&path).unwrap();
    let name = path.to_str().unwrap();
    let summary = raw(&mindful, name, "--preset simple --num-small 1 --num-large 1");
    assert!(steps(&summary)[0]["ops"]["select"]["count"].as_u64().unwrap() > 0, "{summary:#}");
    for verb in [format!("raw {name}"), format!("raw {name} --preset oltp"), format!("run --target raw:{name}")] {
        let output = mindful.run((&verb, "--update-pct 20"));
        let line = refused_with(if output.status.code() == Some(3) { 3 } else { 2 }, &output);
        assert!(line.contains("foreign"), "{verb:?}: {line}");
    }
    let cleaned = mindful.run(format!("cleanup --yes --target raw:{name}"));
    assert!(printed(&cleaned).contains("keep"), "{cleaned:?}");
    assert_eq!(runs(&mindful), 1, "what was refused left no run");
    assert!(fs::read(&path).unwrap() == before, "the file was written");
}

#[test]
fn an_impossible_measurement_is_refused_in_one_line() {
    let mindful = Mindful::on_disk();
    let name = foreign(&mindful).display().to_string();
    let nowhere = mindful.path("no/such/folder/blocks");
    mindful.refuses([("raw", "mindful raw PATH"), ("raw --target null:", "measures files")]);
    mindful.refuses(
        [
            ("--target raw:x", "drop one of them"),
            ("--preset fast", "calibrate"),
            ("--preset oltp --matrix row", "drop one of them"),
            ("--preset oltp --iodepth 4", "--iodepth"),
            ("--matrix row", "--num-large"),
            ("--limit 1ms", "--limit"),
            ("--preset calibrate --limit 5", "not a time"),
            ("--spans outer,upper", "upper"),
            ("--csv m", "--csv"),
            ("--preset oltp --csv no/m", "no folder no"),
        ]
        .map(|(args, hint)| (format!("raw {name} {args}"), hint)),
    );
    let line = refused_with(3, &mindful.run(format!("raw {} --scale 1MiB", nowhere.display())));
    assert!(line.contains("folder"), "{line}");
    assert_eq!(runs(&mindful), 0);
    assert!(!Path::new(&nowhere).exists());
}

#[test]
fn hooks_are_called_around_a_job() {
    let mindful = Mindful::on_disk();
    let path = made(&mindful);
    let ran = raw(&mindful, &path, ("--preset oltp --num-small 1", HOOKS));
    assert_hooks_ran(&mindful.run_folder(&ran));
}
