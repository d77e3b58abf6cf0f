//! If a report has a figure twice, the one with more digits counts, and columns are found by their whole names.
#![expect(clippy::format_push_string, reason = "short texts, put together for once")]

use mindful_core::contract::metric::Counter;
use mindful_import::OldStep;

use crate::cluster_page;
use crate::made::{Dress, showcase};
use crate::measured::{Seen, of, one, runs, steps_of};
use crate::samples::DRESSES;

fn seen(step: OldStep) -> Seen {
    steps_of(&runs(vec![step])[0]).remove(0)
}

#[test]
fn awr_and_import_show_the_same_figures() {
    let texts = DRESSES.map(|dress| (format!("{dress:?}"), showcase().report(dress)));
    for (what, text) in texts.into_iter().chain([("cluster".to_owned(), cluster_page::made())]) {
        let step = one("awr.txt.8", text);
        let (row, run) = (of(&step), seen(step));
        let same = |name: &str, awr: Option<f64>, import: Option<f64>| {
            let near = awr
                .zip(import)
                .map_or(awr.is_none() && import.is_none(), |(a, b)| (a - b).abs() <= 1e-6 * a.abs().max(b.abs()));
            assert!(near, "{name} of {what}: {awr:?} and {import:?}");
        };
        let us = |counter| run.per_s(counter).map(|us| us / 1e6);
        let mib = |counter| run.per_s(counter).map(|bytes| bytes / 1_048_576.0);
        same("elapsed", row.elapsed_s, Some(run.seconds()));
        same("logical reads", row.logical_reads_per_s, run.per_s(Counter::LogicalReads));
        same("blocks read", row.blocks_read_per_s, run.per_s(Counter::PhysicalReads));
        same("read requests", row.read_requests_per_s, run.per_s(Counter::ReadRequests));
        same("blocks written", row.blocks_written_per_s, run.per_s(Counter::PhysicalWrites));
        same("write requests", row.write_requests_per_s, run.per_s(Counter::WriteRequests));
        same("redo", row.redo_mib_per_s, mib(Counter::LogBytes));
        same("redo writes", row.redo_writes_per_s, run.per_s(Counter::LogWrites));
        same("active sessions", row.average_active_sessions, us(Counter::BusyTimeUs));
        same("CPU", row.db_cpu_cores, us(Counter::ServerCpuUs));
        same("single reads", row.single_read.waits, run.per_s(Counter::SingleReads).map(|per_s| per_s * run.seconds()));
        same("read latency", row.single_read.mean_us, run.mean_us());
    }
}

#[test]
fn the_length_with_more_digits_counts_where_two_agree() {
    let page = cluster_page::made()
        .replace("<td align=\"right\" class='awrnc'>10.00</td>", "<td align=\"right\" class='awrnc'>9.87</td>");
    let step = one("rac.html", page);
    assert!((of(&step).elapsed_s.unwrap() - 592.2).abs() < 1e-9);
    assert!((seen(step).seconds() - 592.2).abs() < 1e-9, "in the window of the run too");
    let text = showcase().report(Dress::Awr12);
    let minutes =
        text.replace("23-May-16 10:00:00", "23-May-16 10:00   ").replace("23-May-16 10:05:04", "23-May-16 10:05   ");
    let tenths = text.replace("5.08 (mins)", " 5.1 (mins)");
    for (what, text, s) in [
        ("minutes of .3 s, a clock of 1 s", text, 304.8),
        ("a clock of 60 s", minutes, 304.8),
        ("minutes of 3 s", tenths, 304.0),
    ] {
        let step = one("awr.txt", text);
        assert!((of(&step).elapsed_s.unwrap() - s).abs() < 1e-9, "{what}");
        assert!((seen(step).seconds() - s).abs() < 1e-9, "{what}");
    }
}

#[test]
fn a_mean_with_its_unit_is_more_exact_than_whole_seconds() {
    let text = showcase().report(Dress::Awr19);
    let rare = text
        .replace(
            &format!("{:>11} {:>5} {:>10} {:>10}", "10", "0", "1", "100.00ms"),
            &format!("{:>11} {:>5} {:>10} {:>10}", "10", "0", "0", "749.07us"),
        )
        .replace("read by other session    ", "log file sync            ");
    let step = one("awr.txt", rare);
    let sync = of(&step).log_sync;
    assert_eq!((sync.waits, sync.mean_us), (Some(10.0), Some(749.07)));
    assert!((sync.error_us.unwrap() - 0.005).abs() < 1e-9);
}

/// A list of waits of Statspack, with the columns of a release.
fn statspack(release: &str, heading: [&str; 3], rows: &[[&str; 6]]) -> String {
    let mut text = format!(
        "\nSTATSPACK report for\n\nDB Name         DB Id    Instance     Inst Num Release     Cluster Host\n\
         ------------ ----------- ------------ -------- ----------- ------- ------------\n\
         DB1           1111111111 db1                 1 {release:11} NO      host1\n\n\
         {:12}Snap Id     Snap Time      Sessions Curs/Sess Comment\n{:12}------- ------------------ -------- --------- -------------------\n\
         Begin Snap:      90 15-Aug-07 09:00:00      215      11.9\n  End Snap:      91 15-Aug-07 09:10:00      177      10.6\n\
         {:>11}               10.00 (mins)\n\n\
         Load Profile\n~~~~~~~~~~~~                            Per Second       Per Transaction\n{:35}---------------       ---------------\n\
         {:>28}             1,000.00              1.00\n\nWait Events for DB: DB1  Instance: db1  Snaps: 90 -91\n-> s  - second\n\n",
        "", "", "Elapsed:", "", "Logical reads:"
    );
    for line in heading {
        text += line;
        text.push('\n');
    }
    text += "---------------------------- ------------ ---------- ---------- ------ --------\n";
    for [event, waits, timeouts, time, mean, per_txn] in rows {
        text += &format!("{event:<28} {waits:>12} {timeouts:>10} {time:>10} {mean:>6} {per_txn:>8}\n");
    }
    text + "          -------------------------------------------------------------\n\nEnd of Report\n"
}

#[test]
fn timeouts_are_no_time_and_hundredths_are_no_seconds() {
    let rows = [
        ["db file sequential read", "40,000", "0", "180", "4", "6.0"],
        ["log file parallel write", "30,000", "30,000", "60", "2", "5.0"],
    ];
    let nine = [
        "                                                                   Avg",
        "                                                     Total Wait   wait    Waits",
        "Event                               Waits   Timeouts   Time (s)   (ms)     /txn",
    ];
    let f = of(&one("sp.txt", statspack("9.2.0.8.0", nine, &rows)));
    assert_eq!((f.single_read.mean_us, f.log_write.mean_us), (Some(4_500.0), Some(2_000.0)));
    assert!((f.log_write.error_us.unwrap() - 0.5e6 / 30_000.0).abs() < 1e-6);
    let eight = nine.map(|line| line.replace("Time (s) ", "Time (cs)"));
    let f = of(&one("sp.txt", statspack("8.1.7.4.0", [&eight[0], &eight[1], &eight[2]], &rows)));
    assert_eq!((f.single_read.mean_us, f.log_write.mean_us), (Some(45.0), Some(20.0)));
    assert!((f.log_write.error_us.unwrap() - 5e3 / 30_000.0).abs() < 1e-6);
}

#[test]
fn requests_and_blocks_of_a_cluster_are_separate() {
    let step = one("rac.html.4", cluster_page::made());
    let f = of(&step);
    assert_eq!((f.read_requests_per_s, f.all_read_requests_per_s), (Some(9_000.0), Some(9_100.0)));
    assert_eq!((f.redo_writes_per_s, f.top_event_pct, f.cpus), (Some(100.0), Some(13.89), Some(32.0)));
    assert!(
        !step.findings.iter().any(|finding| finding.text.contains("have no row that could be read")),
        "{:?}",
        step.findings
    );
}

#[test]
fn a_host_on_one_line_and_a_block_size_of_8i_are_read() {
    let one_line = "Host  Name:   dbhost1          Num CPUs:    4        Phys Memory (MB):    8,192\n~~~~\n";
    let old = "Cache Sizes\n~~~~~~~~~~~\n   db_block_buffers:      64000          log_buffer:     163840\n   \
        db_block_size:       4096    shared_pool_size:   52428800\n";
    let report = statspack("10.2.0.2.0", ["", "", ""], &[]).replacen(
        "Load Profile\n",
        &format!("{one_line}\n{old}\nLoad Profile\n"),
        1,
    );
    let step = one("sp.txt", report);
    assert_eq!(step.block_bytes, Some(4096));
    let [run] = &crate::measured::runs(vec![step])[..] else { panic!("one run") };
    let events = format!("{:?}", run.events);
    for fact in ["\"cpu.count\": \"4\"", "\"memory.gib\": \"8\""] {
        assert!(events.contains(fact), "{fact} in {events}");
    }
}
