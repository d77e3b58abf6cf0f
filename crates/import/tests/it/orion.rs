//! Results of Orion.

use mindful_core::contract::metric::Counter;
use mindful_import::{LatencyUnit, runs};

use crate::measured::{Seen, read, runs_of, steps_in, steps_of};

const SUMMARY: &str = "\
ORION VERSION 12.1.0.2.0\n\nCommand line:\n-run oltp -testname disks -duration 30\n\nThese options enable these settings:\n\
Small IO size: 8 KB\nDuration for each data point: 30 seconds\n\nName: /dev/sdx\tSize: 21474836480\n1 files found.\n\n\
Maximum Small IOPS=50000 @ Small=9 and Large=0\n\
Small Read Latency: avg=180.250 us, min=120.000 us, max=1900.000 us, std dev=13.5 us @ Small=9 and Large=0\n\n\
Minimum Small Latency=90.500 usecs @ Small=2 and Large=0\n\
Small Read Latency: avg=90.500 us, min=60.0 us, max=2100.0 us, std dev=47.3 us @ Small=2 and Large=0\n";

/// A summary as 10.2 and 11.1 write it: latencies in ms, without a unit.
fn old(disk: &str, iops: u32, ms: f64, mbps: f64) -> String {
    format!(
        "ORION VERSION 11.1.0.7.0\n\nCommandline:\n-run simple\n\nThis maps to this test:\nTest: orion\nSmall IO size: 8 KB\n\
         Duration for each Data Point: 60 seconds\n\nName: {disk}  Size: 21474836480\n1 FILEs found.\n\n\
         Maximum Large MBPS={mbps} @ Small=0 and Large=2\nMaximum Small IOPS={iops} @ Small=5 and Large=0\n\
         Minimum Small Latency={ms} @ Small=4 and Large=0\n"
    )
}

fn at(steps: &[Seen], sessions: u32) -> &Seen {
    let small = |step: &&Seen| step.sessions == Some(sessions) && !step.values.contains_key("block_size");
    steps.iter().find(small).unwrap_or_else(|| panic!("{sessions} in {steps:?}"))
}

fn near(is: Option<f64>, wanted: f64) {
    assert!(is.is_some_and(|is| (is / wanted - 1.0).abs() < 1e-9), "{is:?} for {wanted}");
}

#[test]
fn a_summary_has_a_latency_at_each_of_its_loads() {
    let [run] = &runs_of(&[("disks_20120101_1200_summary.txt", SUMMARY)])[..] else { panic!("one run") };
    let steps = steps_of(run);
    assert_eq!((steps.len(), run.target.as_str(), at(&steps, 9).seconds()), (2, "orion: /dev/sdx", 30.0));
    near(at(&steps, 9).per_s(Counter::ReadRequests), 50_000.0);
    near(at(&steps, 9).mean_us(), 180.25);
    near(at(&steps, 2).mean_us(), 90.5);
    assert_eq!(at(&steps, 2).per_s(Counter::ReadRequests), None, "a latency alone is no rate");
}

#[test]
fn spellings_of_all_releases_are_read() {
    let steps = steps_in(&[("o.txt", &old("/dev/sdb", 19_019, 0.26, 1_554.5))]);
    near(at(&steps, 5).per_s(Counter::ReadRequests), 19_019.0);
    near(at(&steps, 4).mean_us(), 260.0);
    near(steps.iter().find_map(|step| step.per_s(Counter::DeviceReadBytes)), 1_554.5 * 1_048_576.0);
    let results = SUMMARY.split_once("1 files found.").unwrap().1;
    let console = format!(
        "ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417\ndisks_20211113_1809\nCalibration will take \
         approximately 44 minutes.\n\nSetting ftype=0\n{results}"
    );
    let [run] = &runs_of(&[("console.txt", &console)])[..] else { panic!("one run") };
    assert!(format!("{:?}", run.events).contains("Orion 19.3.0.0.0"));
    near(at(&steps_of(run), 9).mean_us(), 180.25);
}

#[test]
fn several_results_in_a_file_are_several_runs() {
    for command in ["Commandline:", "Command line:"] {
        let text = old("/dev/sdb", 19_019, 0.26, 1_554.5) + "\n\n" + &old("/dev/sdc", 14_741, 0.33, 255.88);
        let text = text.replace("Commandline:", command);
        let runs = runs_of(&[("both.txt", &text)]);
        let targets: Vec<_> = runs.iter().map(|run| run.target.as_str()).collect();
        assert_eq!(targets, ["orion: /dev/sdb", "orion: /dev/sdc"]);
        near(at(&steps_of(&runs[0]), 5).per_s(Counter::ReadRequests), 19_019.0);
        near(at(&steps_of(&runs[1]), 5).per_s(Counter::ReadRequests), 14_741.0);
        near(at(&steps_of(&runs[1]), 4).mean_us(), 330.0);
    }
    let same = old("/dev/sdb", 19_019, 0.26, 1.0) + &old("/dev/sdb", 18_000, 0.27, 1.0);
    assert_eq!(runs_of(&[("twice.txt", &same)]).len(), 2, "also of one disk");
}

const IOPS: &str = "Large/Small,      1,      2,      5\n      0,  10103, 20101, 29400\n";
const LATENCIES: &str = "Large/Small,      1,      2,      5\n      0,  97.7, 99.10, 1169.5\n";

#[test]
fn matrices_of_one_run_are_joined() {
    let files = [("a/disks_iops.csv", IOPS), ("a/disks_lat.csv", LATENCIES)];
    let [run] = &runs_of(&files)[..] else { panic!("one run") };
    assert_eq!(run.imported.files, ["a/disks_iops.csv", "a/disks_lat.csv"]);
    let steps = steps_of(run);
    assert_eq!(steps.iter().map(|step| step.sessions).collect::<Vec<_>>(), [Some(1), Some(2), Some(5)]);
    near(at(&steps, 5).per_s(Counter::ReadRequests), 29_400.0);
    near(at(&steps, 5).mean_us(), 1_169.5);
    assert_eq!(runs_of(&[("a/disks_iops.csv", IOPS), ("b/disks_iops.csv", IOPS)]).len(), 2, "of two folders");
    let error = read("disks.csv", IOPS).unwrap_err().to_string();
    assert!(error.contains("_iops.csv"), "{error}");
}

#[test]
fn the_unit_of_a_matrix_is_decided_once_or_asked_for() {
    let mean = |text: &str, others: &[(&str, &str)], unit| {
        let files = [("d_lat.csv", text)].into_iter().chain(others.iter().copied());
        let (runs, refused) = runs(files.flat_map(|(name, text)| read(name, text).unwrap()).collect(), unit);
        let mean = runs.iter().flat_map(steps_of).find(|step| step.sessions == Some(1)).and_then(|step| step.mean_us());
        mean.ok_or_else(|| refused[0].to_string())
    };
    assert_eq!(mean(LATENCIES, &[], None), Ok(97.7));
    assert_eq!(mean("Large/Small, 1, 2, 50\n 0, 5.12, 6.3, 120\n", &[], None), Ok(5_120.0));
    assert!(mean("Large/Small, 1, 2\n 0, 0.1, 50000\n", &[], None).is_err(), "no device is so fast and so slow");
    let disk = "Large/Small, 1, 2\n 0, 12.5, 14.75\n";
    let refused = mean(disk, &[], None).unwrap_err();
    assert!(refused.contains("--unit us") && refused.contains("d_lat.csv"), "{refused}");
    assert_eq!(mean(disk, &[], Some(LatencyUnit::Milliseconds)), Ok(12_500.0));
    assert_eq!(mean(disk, &[], Some(LatencyUnit::Microseconds)), Ok(12.5));
    assert_eq!(mean(disk, &[("d_summary.txt", &old("/dev/sdb", 9, 9.0, 9.0))], None), Ok(12_500.0));
    assert_eq!(mean(disk, &[("d_summary.txt", SUMMARY)], None), Ok(12.5));
    for (iops, us) in [("80, 135", 12_500.0), ("80000, 132000", 12.5)] {
        let iops = format!("Large/Small, 1, 2\n 0, {iops}\n");
        assert_eq!(mean(disk, &[("d_iops.csv", &iops)], None), Ok(us));
    }
}

#[test]
fn a_figure_that_ends_where_the_file_ends_is_unknown() {
    let cut = IOPS.trim_end().strip_suffix('0').unwrap();
    assert_eq!(
        steps_in(&[("d_iops.csv", cut)]).iter().map(|step| step.sessions).collect::<Vec<_>>(),
        [Some(1), Some(2)]
    );
    let wide = IOPS.replace("20101", "#####");
    assert_eq!(
        steps_in(&[("d_iops.csv", &wide)]).iter().map(|step| step.sessions).collect::<Vec<_>>(),
        [Some(1), Some(5)]
    );
}

/// What 12.1 writes above a matrix of latencies.
const HEAD: &str = "This file contains the average latency sustained by small I/Os in microseconds.\nEach value is that of a \
    test with a fixed number of outstanding small and large I/Os.\n\n";

#[test]
fn words_above_a_matrix_show_its_unit_and_its_figures() {
    let disk = format!("{HEAD}Large/Small, 1, 2\n 0, 12.5, 14.75\n");
    for (name, text) in
        [("d_lat.csv", disk.clone()), ("renamed.csv", disk.clone()), ("ms.csv", disk.replace("micro", "milli"))]
    {
        near(at(&steps_in(&[(name, &text)]), 1).mean_us(), if name == "ms.csv" { 12_500.0 } else { 12.5 });
    }
    let rates = disk.replace("average latency", "rates").replace("in microseconds", "in IOPS");
    near(at(&steps_in(&[("renamed.csv", &rates)]), 2).per_s(Counter::ReadRequests), 14.75);
}

#[test]
fn decimal_commas_make_a_row_of_a_matrix_unreadable() {
    let commas = "Large/Small, 1, 2\n 0, 97,677, 99,10\n 1, 5.5\n";
    let step = read("d_lat.csv", commas).unwrap();
    let (runs, _) = runs(step, Some(LatencyUnit::Microseconds));
    let events = format!("{:?}", runs[0].events);
    assert_eq!(runs[0].step_files.len(), 1, "the row that is whole");
    assert!(events.contains("damaged") && events.contains("1 line"), "{events}");
}

#[test]
fn a_summary_and_a_matrix_state_one_latency() {
    // The matrix has more digits than the summary of 11.1, in ms.
    let summary = old("/dev/sdb", 19_019, 0.26, 1_554.5);
    let matrix = "Large/Small, 4, 5\n 0, 0.2587, 0.2634\n";
    for files in
        [[("d_lat.csv", matrix), ("d_summary.txt", &summary)], [("d_summary.txt", &summary), ("d_lat.csv", matrix)]]
    {
        near(at(&steps_in(&files), 4).mean_us(), 258.7);
    }
}

#[test]
fn a_latency_without_a_unit_has_that_of_its_release() {
    for (version, us) in [("10.2.0.1.0", 260.0), ("11.1.0.7.0", 260.0), ("11.2.0.1.0", 0.26)] {
        let text = old("/dev/sdb", 19_019, 0.26, 1.0).replace("11.1.0.7.0", version);
        near(at(&steps_of(&runs_of(&[("o.txt", &text)])[0]), 4).mean_us(), us);
    }
}

/// The same summary of a run with writes.
fn with_writes(share: &str) -> String {
    let lines = SUMMARY.replace("Small IO size: 8 KB\n", &format!("Small IO size: 8 KB\nWrites: {share}\n"));
    let timed = "@ Small=9 and Large=0\n\n";
    lines.replacen(timed, "@ Small=9 and Large=0\nSmall Write Latency: avg=900.5 us, min=60.0 us, max=2100.0 us @ Small=9 and Large=0\n\n", 1)
}

#[test]
fn writes_are_not_counted_as_reads() {
    let [run] = &runs_of(&[("mixed.txt", &with_writes("30%"))])[..] else { panic!("one run") };
    let steps = steps_of(run);
    near(at(&steps, 9).per_s(Counter::ReadRequests), 35_000.0);
    near(at(&steps, 9).per_s(Counter::WriteRequests), 15_000.0);
    near(at(&steps, 9).mean_us(), 180.25);
    near(at(&steps, 2).mean_us(), 90.5);
    assert!(!format!("{:?}", run.events).contains("contradict"), "reads and writes differ");
    let only =
        with_writes("100%").lines().filter(|line| !line.starts_with("Small Read")).collect::<Vec<_>>().join("\n");
    let console = only
        .replace("ORION VERSION 12.1.0.2.0", "ORION: ORacle IO Numbers -- Version 12.1.0.2.0")
        .replace("Writes: 100%", "");
    for text in [only + "\n", console + "\n"] {
        let [run] = &runs_of(&[("writes.txt", &text)])[..] else { panic!("one run") };
        let steps = steps_of(run);
        near(at(&steps, 9).per_s(Counter::WriteRequests), 50_000.0);
        assert_eq!((at(&steps, 9).per_s(Counter::ReadRequests), at(&steps, 2).mean_us()), (Some(0.0), None));
        assert!(format!("{:?}", run.events).contains("900.5"), "the mean of writes is a fact");
    }
}
