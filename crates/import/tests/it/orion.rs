//! Results of Orion.

use mindful_import::{LatencyUnit, OldRun, runs};

use crate::measured::{Seen, read, runs_of, shown, steps_of};

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

fn texts(run: &OldRun) -> Vec<String> {
    steps_of(run).iter().map(Seen::text).collect()
}

#[test]
fn a_summary_has_a_latency_at_each_of_its_loads() {
    let [run] = &runs_of(&[("disks_20120101_1200_summary.txt", SUMMARY)])[..] else { panic!("one run") };
    assert_eq!((run.target.as_str(), steps_of(run)[1].seconds()), ("orion: /dev/sdx", 30.0));
    // A latency alone is no rate.
    assert_eq!(texts(run), ["2 sessions: 90.5 us", "9 sessions: 50000 reads, 180.25 us"]);
}

#[test]
fn spellings_of_all_releases_are_read() {
    let steps = ["4 sessions: 260 us", "5 sessions: 19019 reads", "2 sessions of 1MiB: 1630011392 bytes"];
    assert_eq!(shown(&[("o.txt", &old("/dev/sdb", 19_019, 0.26, 1_554.5))]), steps);
    let results = SUMMARY.split_once("1 files found.").unwrap().1;
    let console = format!(
        "ORION: ORacle IO Numbers -- Version RDBMS_19.3.0.0.0DBRU_LINUX.X64_190417\ndisks_20211113_1809\nCalibration will take \
         approximately 44 minutes.\n\nSetting ftype=0\n{results}"
    );
    let [run] = &runs_of(&[("console.txt", &console)])[..] else { panic!("one run") };
    assert!(format!("{:?}", run.events).contains("Orion 19.3.0.0.0"));
    assert_eq!(texts(run), ["2 sessions: 90.5 us", "9 sessions: 50000 reads, 180.25 us"]);
}

#[test]
fn several_results_in_a_file_are_several_runs() {
    for command in ["Commandline:", "Command line:"] {
        let text = old("/dev/sdb", 19_019, 0.26, 1_554.5) + "\n\n" + &old("/dev/sdc", 14_741, 0.33, 255.88);
        let text = text.replace("Commandline:", command);
        let runs = runs_of(&[("both.txt", &text)]);
        let targets: Vec<_> = runs.iter().map(|run| run.target.as_str()).collect();
        assert_eq!(targets, ["orion: /dev/sdb", "orion: /dev/sdc"]);
        assert_eq!(texts(&runs[0])[..2], ["4 sessions: 260 us", "5 sessions: 19019 reads"]);
        assert_eq!(texts(&runs[1])[..2], ["4 sessions: 330 us", "5 sessions: 14741 reads"]);
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
    let steps =
        ["1 sessions: 10103 reads, 97.7 us", "2 sessions: 20101 reads, 99.1 us", "5 sessions: 29400 reads, 1169.5 us"];
    assert_eq!(texts(run), steps);
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
    assert_eq!(shown(&[("d_iops.csv", cut)]), ["1 sessions: 10103 reads", "2 sessions: 20101 reads"]);
    let wide = IOPS.replace("20101", "#####");
    assert_eq!(shown(&[("d_iops.csv", &wide)]), ["1 sessions: 10103 reads", "5 sessions: 29400 reads"]);
}

/// What 12.1 writes above a matrix of latencies.
const HEAD: &str = "This file contains the average latency sustained by small I/Os in microseconds.\nEach value is that of a \
    test with a fixed number of outstanding small and large I/Os.\n\n";

#[test]
fn words_above_a_matrix_show_its_unit_and_its_figures() {
    let disk = format!("{HEAD}Large/Small, 1, 2\n 0, 12.5, 14.75\n");
    for name in ["d_lat.csv", "renamed.csv"] {
        assert_eq!(shown(&[(name, &disk)]), ["1 sessions: 12.5 us", "2 sessions: 14.75 us"]);
    }
    let ms = disk.replace("micro", "milli");
    assert_eq!(shown(&[("ms.csv", &ms)]), ["1 sessions: 12500 us", "2 sessions: 14750 us"]);
    let rates = disk.replace("average latency", "rates").replace("in microseconds", "in IOPS");
    assert_eq!(shown(&[("renamed.csv", &rates)]), ["1 sessions: 12.5 reads", "2 sessions: 14.75 reads"]);
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
fn a_cut_line_is_damaged_and_contradicts_nothing() {
    let cut = SUMMARY.to_owned() + "Small Read Latency: avg=500 us, min=1 us, max=12 us";
    let events = |text: &str| format!("{:?}", runs_of(&[("cut.txt", text)])[0].events);
    let of_cut = events(&cut);
    assert!(of_cut.contains("1 line") && !of_cut.contains("contradict"), "{of_cut}");
    assert!(events(&(cut + " @ Small=3 and Large=0\n")).contains("contradict"));
}

#[test]
fn a_summary_and_a_matrix_state_one_latency() {
    // The matrix has more digits than the summary of 11.1, in ms.
    let summary = old("/dev/sdb", 19_019, 0.26, 1_554.5);
    let matrix = "Large/Small, 4, 5\n 0, 0.2587, 0.2634\n";
    for files in
        [[("d_lat.csv", matrix), ("d_summary.txt", &summary)], [("d_summary.txt", &summary), ("d_lat.csv", matrix)]]
    {
        assert_eq!(shown(&files)[..2], ["4 sessions: 258.7 us", "5 sessions: 19019 reads, 263.4 us"]);
    }
}

#[test]
fn a_latency_without_a_unit_has_that_of_its_release() {
    for (version, us) in [("10.2.0.1.0", 260.0), ("11.1.0.7.0", 260.0), ("11.2.0.1.0", 0.26)] {
        let text = old("/dev/sdb", 19_019, 0.26, 1.0).replace("11.1.0.7.0", version);
        assert_eq!(shown(&[("o.txt", &text)])[0], format!("4 sessions: {us} us"));
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
    assert_eq!(texts(run), ["2 sessions: 90.5 us", "9 sessions: 35000 reads, 15000 writes, 180.25 us"]);
    assert!(!format!("{:?}", run.events).contains("contradict"), "reads and writes differ");
    let only =
        with_writes("100%").lines().filter(|line| !line.starts_with("Small Read")).collect::<Vec<_>>().join("\n");
    let console = only
        .replace("ORION VERSION 12.1.0.2.0", "ORION: ORacle IO Numbers -- Version 12.1.0.2.0")
        .replace("Writes: 100%", "");
    for text in [only + "\n", console + "\n"] {
        let [run] = &runs_of(&[("writes.txt", &text)])[..] else { panic!("one run") };
        assert_eq!(texts(run), ["2 sessions: ", "9 sessions: 0 reads, 50000 writes"]);
        assert!(format!("{:?}", run.events).contains("900.5"), "the mean of writes is a fact");
    }
}
