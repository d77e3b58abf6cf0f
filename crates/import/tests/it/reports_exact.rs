//! If a report has a figure twice, the one with more digits counts, and columns are found by their whole names. Missing
//! figures are unknown: those that did not fit their column, and all after a truncation.

use mindful_core::contract::metric::Counter;
use mindful_import::OldStep;
use mindful_import::rows::{self, ReportRow};

use crate::made::{Dress, showcase};
use crate::measured::{Seen, of, one, read_latencies, runs, steps_of};
use crate::samples::{CLUSTER_PAGE, DRESSES, OLD_STATSPACK};

fn seen(step: OldStep) -> Seen {
    steps_of(&runs(vec![step])[0]).remove(0)
}

#[test]
fn awr_and_import_show_the_same_figures() {
    let texts = DRESSES.map(|dress| (format!("{dress:?}"), showcase().report(dress)));
    for (what, text) in texts.into_iter().chain([("cluster".to_owned(), CLUSTER_PAGE.to_owned())]) {
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
    let page = CLUSTER_PAGE
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
fn timeouts_are_no_time_and_hundredths_are_no_seconds() {
    let wide = "############          0   ########";
    let nine = OLD_STATSPACK.replace(wide, "      30,000     30,000         60");
    assert_ne!(nine, OLD_STATSPACK);
    let f = of(&one("sp.txt", nine.clone()));
    assert_eq!((f.single_read.mean_us, f.log_write.mean_us), (Some(4_500.0), Some(2_000.0)));
    assert!((f.log_write.error_us.unwrap() - 0.5e6 / 30_000.0).abs() < 1e-6);
    let eight = nine.replace("Time (s) ", "Time (cs)").replace("9.2.0.8.0", "8.1.7.4.0").replace("Cluster", "OPS    ");
    let f = of(&one("sp.txt", eight));
    assert_eq!((f.cluster, f.host.as_deref()), (Some(false), Some("host1")));
    assert_eq!((f.average_active_sessions, f.cpus), (None, None), "8i does not print them");
    assert_eq!((f.single_read.mean_us, f.log_write.mean_us), (Some(45.0), Some(20.0)));
    assert!((f.log_write.error_us.unwrap() - 5e3 / 30_000.0).abs() < 1e-6);
}

#[test]
fn a_host_on_one_line_and_a_block_size_of_8i_are_read() {
    let one_line = "Host  Name:   dbhost1          Num CPUs:    4        Phys Memory (MB):    8,192\n~~~~\n";
    let old = "Cache Sizes\n~~~~~~~~~~~\n   db_block_buffers:      64000          log_buffer:     163840\n   \
        db_block_size:       4096    shared_pool_size:   52428800\n";
    let report = OLD_STATSPACK.replacen("Load Profile\n", &format!("{one_line}\n{old}\nLoad Profile\n"), 1);
    let step = one("sp.txt", report);
    assert_eq!(step.block_bytes, Some(4096));
    let [run] = &crate::measured::runs(vec![step])[..] else { panic!("one run") };
    let events = format!("{:?}", run.events);
    for fact in ["\"cpu.count\": \"4\"", "\"memory.gib\": \"8\""] {
        assert!(events.contains(fact), "{fact} in {events}");
    }
}

#[test]
fn a_figure_that_did_not_fit_its_column_is_unknown() {
    let text = showcase().report(Dress::Awr19);
    let mean = "759.00us";
    let wide = text.replace("21,643,000", "##########").replace(" 16427 ", " ##### ").replace(" 16,427 ", " ###### ");
    assert!(wide.contains(mean), "{wide}");
    let step = one("awr.txt", wide);
    let f = of(&step);
    assert_eq!((f.single_read.waits, f.single_read.mean_us, f.single_read.error_us), (None, Some(759.0), Some(0.005)));
    for text in [rows::csv(&[ReportRow::of(&step).unwrap()]), rows::flashdba(&[ReportRow::of(&step).unwrap()])] {
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        let waits = |name: &str| name == "single_read_waits" || name == "db file sequential read Waits";
        let at = lines[0].iter().position(|name| waits(name)).unwrap();
        assert_eq!(lines[1][at], "", "blank, never 0");
    }
    let shares = text.replace("  40.0  60.0", "  ####  60.0");
    assert_ne!(shares, text);
    assert_eq!(read_latencies(&one("awr.txt", shares)), None, "shares that do not add up");
}

#[test]
fn cpus_too_wide_for_their_column_do_not_rename_the_database() {
    let report = showcase().report(Dress::Statspack);
    let wide = report.replace("   32     0", "#####     0");
    assert_ne!(wide, report);
    let step = one("sp.txt", wide);
    assert_eq!((step.target.as_str(), of(&step).cpus), ("oracle: ? (slob) on box", Some(32.0)));
}

#[test]
fn a_list_that_was_cut_has_no_waits_of_events_that_it_lacks() {
    for dress in [Dress::Html, Dress::Html11, Dress::Awr19, Dress::Awr11, Dress::Statspack] {
        let whole = showcase().report(dress);
        let section = whole.find("Foreground Wait Events").unwrap();
        let row = section + whole[section..].find("log buffer space").unwrap();
        let end = row + whole[row..].find('\n').unwrap() + 1;
        let f = of(&one("awr.txt", &whole[..end]));
        assert_eq!(f.single_read.waits, Some(21_643_000.0), "{dress:?}");
        assert_eq!((f.scattered_read.waits, f.direct_read.waits), (None, None), "{dress:?}");
        assert!(f.cut, "{dress:?}");
        let f = of(&one("awr.txt", whole));
        assert_eq!((f.scattered_read.waits, f.direct_read.waits, f.cut), (Some(0.0), Some(0.0), false), "{dress:?}");
    }
}

#[test]
fn a_known_section_without_a_row_that_can_be_read_is_a_finding() {
    let found = |text: String| {
        let step = one("awr.html", text);
        step.findings
            .iter()
            .find(|finding| finding.text.contains("have no row that could be read"))
            .map(|finding| finding.evidence.clone())
    };
    let whole = showcase().report(Dress::Html);
    assert_eq!(found(whole.clone()), None);
    let renamed = whole.replace("&lt;", "below ").replace("&gt;", "above ");
    assert!(found(renamed).is_some_and(|evidence| evidence.contains("Wait Event Histogram")));
    let renamed = whole.replace("Total Wait Time (s)", "Gesamtzeit");
    assert!(found(renamed).is_some_and(|evidence| evidence.contains("Foreground Wait Events")));
}
