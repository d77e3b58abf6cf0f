//! Files that were changed after the tool wrote them.

use mindful_core::contract::event::Event;
use mindful_core::result::finding::codes;

use crate::made::{Dress, Made, showcase};
use crate::measured::{read, runs};
use crate::releases::AWR_11;
use crate::samples::{CLUSTER_PAGE, DRESSES};

/// The reported contradictions in files.
fn contradictions(files: &[(&str, impl AsRef<str>)]) -> Option<String> {
    let steps = files.iter().flat_map(|(name, text)| read(name, text.as_ref()).unwrap()).collect();
    let events = runs(steps).into_iter().flat_map(|run| run.events);
    let findings = events.filter_map(|event| if let Event::Finding(finding) = event { Some(finding) } else { None });
    let mut doubts = findings.filter(|finding| finding.code == codes::IMPORTED_DOUBT.name);
    doubts.find(|finding| finding.text.contains("contradict")).map(|finding| finding.evidence)
}

fn contradiction(text: &str) -> Option<String> {
    contradictions(&[("awr.txt", text)])
}

/// Each edit makes the file `name`, one of `files`, contradict itself; unchanged, it does not.
fn assert_found(files: &[(&str, &str)], name: &str, edits: &[(&str, &str)]) {
    assert_eq!(contradictions(files), None, "as they were written");
    for (from, to) in edits {
        let edit = |of: &str, text: &str| if of == name { text.replacen(from, to, 1) } else { text.to_owned() };
        let edited: Vec<_> = files.iter().map(|(of, text)| (*of, edit(of, text))).collect();
        assert!(edited.iter().zip(files).any(|((_, edited), (_, text))| edited != text), "{from} is not in {name}");
        assert!(contradictions(&edited).is_some(), "{from} as {to} in {name}");
    }
}

#[test]
fn an_unchanged_report_is_consistent() {
    for dress in DRESSES {
        assert_eq!(contradiction(&showcase().report(dress)), None, "{dress:?}");
    }
    assert_eq!(contradiction(CLUSTER_PAGE), None);
}

#[test]
fn a_figure_that_is_changed_in_one_place_contradicts_the_others() {
    let report = showcase().report(Dress::Awr12);
    let edits = [
        ("119,749.5", "219,749.5"),
        ("71,556.0", "91,556.0"),
        ("5.08 (mins)", "10.08 (mins)"),
        ("642.62 (mins)", "342.62 (mins)"),
        ("23-May-16 10:05:04", "23-May-16 10:15:04"),
    ];
    assert_found(&[("awr.txt", &report)], "awr.txt", &edits);
}

#[test]
fn each_figure_of_a_report_is_compared_with_another() {
    let edits = [
        ("          8     4       1", "         32     4       1"),
        ("NUM_CPUS                                       8", "NUM_CPUS                                      16"),
        ("  58.0 User I/O", "  18.0 User I/O"),
        ("457          37.2", "457          77.2"),
        ("8,190.3         8,085.1", "9,190.3         9,085.1"),
        ("0.0            13.2", "0.0            33.2"),
        ("DB CPU(s):                1.5", "DB CPU(s):                0.5"),
        ("457          37.2", "157          37.2"),
        (
            "DB CPU                                                  457.2",
            "DB CPU                                                  257.2",
        ),
        ("2462K  97.0", "1462K  97.0"),
        ("4021   1.0", "8021   1.0"),
        ("97.0   2.0", "57.0   2.0"),
        ("60.0  30.0", "30.0  30.0"),
        ("2,462,114     0        713", "2,462,114     0        413"),
        ("2,462,114         713", "2,462,114         413"),
        ("4,021     0         12", "6,021     0         12"),
        ("21,738           71.3", "91,440          300.0"),
        ("2,465,000        8,085.1", "1,829,268        6,000.0"),
        ("80.41", "60.41"),
    ];
    assert_found(&[("awr.txt", AWR_11)], "awr.txt", &edits);
}

#[test]
fn levels_that_serve_more_than_they_were_asked_for_contradict() {
    let more = Made { blocks_read: 160_000.0, read_requests: 150_000.0, ..showcase() };
    let requests = Made { read_requests: 95_000.0, ..showcase() };
    let waits = Made { foreground: vec![("db file sequential read", 21_643_000, 56_427)], ..showcase() };
    for (what, made) in [("blocks above logical reads", more), ("requests above blocks", requests), ("waits", waits)] {
        for dress in [Dress::Awr12, Dress::Html] {
            assert!(contradiction(&made.report(dress)).is_some(), "{what}, {dress:?}");
        }
    }
}

/// Four I/Os of 8 KiB in flight for ten seconds.
const FIO: &str = r#"{"fio version": "fio-3.36", "timestamp": 1700000000, "global options": {"bs": "8k,16k", "ioengine": "libaio"},
 "jobs": [{"jobname": "r", "groupid": 0, "error": 0, "job options": {"rw": "randread", "iodepth": "4"},
 "read": {"io_bytes": 163840000, "io_kbytes": 160000, "bw_bytes": 16384000, "bw": 16000, "iops": 2000.000000, "runtime": 10000,
 "total_ios": 20000, "short_ios": 0, "slat_ns": {"mean": 50000.0}, "lat_ns": {"min": 510000, "max": 9050000, "mean": 1950000.5},
 "clat_ns": {"min": 500000, "max": 9000000, "mean": 1900000.5, "N": 20000,
 "percentile": {"1.000000": 700000, "50.000000": 1800000, "99.000000": 5000000}, "bins": {"1000000": 10000, "2800000": 10000}}}}]}
"#;

#[test]
fn a_changed_result_of_fio_contradicts_itself() {
    let edits = [
        ("\"total_ios\": 20000", "\"total_ios\": 40000"),
        ("\"iops\": 2000", "\"iops\": 4000"),
        ("\"runtime\": 10000", "\"runtime\": 5000"),
        ("\"bw_bytes\": 16384000", "\"bw_bytes\": 26384000"),
        ("\"bw\": 16000", "\"bw\": 18000"),
        ("\"io_bytes\": 163840000", "\"io_bytes\": 263840000"),
        ("\"io_kbytes\": 160000", "\"io_kbytes\": 130000"),
        ("\"bs\": \"8k,16k\"", "\"bs\": \"4k,16k\""),
        ("\"iodepth\": \"4\"", "\"iodepth\": \"3\""),
        ("\"mean\": 1950000.5", "\"mean\": 950000.5"),
        ("\"mean\": 50000.0", "\"mean\": 250000.0"),
        ("\"mean\": 1900000.5", "\"mean\": 900000.5"),
        ("\"mean\": 1900000.5", "\"mean\": 400000.5"),
        ("\"max\": 9000000", "\"max\": 1800000"),
        ("\"99.000000\": 5000000", "\"99.000000\": 1000000"),
        ("\"99.000000\": 5000000", "\"99.000000\": 15000000"),
        ("\"1.000000\": 700000", "\"1.000000\": 300000"),
        ("\"2800000\": 10000", "\"2800000\": 30000"),
    ];
    assert_found(&[("r.json", FIO)], "r.json", &edits);
    let old = r#"{"fio version": "fio-2.1.4", "jobs": [{"jobname": "t", "groupid": 0, "error": 0, "read": {"io_bytes": 40000,
        "bw": 4000, "iops": 1000, "runtime": 10000, "clat": {"min": 0, "max": 5000, "mean": 990.25, "percentile": {"50.000000": 980}}}}]}"#;
    assert_found(
        &[("r.json", old)],
        "r.json",
        &[("40000", "80000"), ("\"bw\": 4000", "\"bw\": 8000"), ("5000", "500")],
    );
}

#[test]
fn a_changed_result_of_orion_contradicts_itself() {
    let summary = "ORION VERSION 12.1.0.2.0\n\nCommand line:\n-run oltp\n\nSmall IO size: 8 KB\n\n\
        Maximum Small IOPS=29400 @ Small=5 and Large=0\n\
        Small Read Latency: avg=169.594 us, min=128.4 us, max=1924.7 us, std dev=13.5 us @ Small=5 and Large=0\n\n\
        Minimum Small Latency=97.677 usecs @ Small=1 and Large=0\n";
    let iops = "Large/Small,      1,      2,      5\n      0,  10103, 20101, 29400\n";
    let latencies = "Large/Small,      1,      2,      5\n      0,  97.677, 99.10, 169.594\n";
    let files = [("d_summary.txt", summary), ("d_iops.csv", iops), ("d_lat.csv", latencies)];
    assert_found(&files, "d_iops.csv", &[("29400", "59400"), ("20101", "40101"), ("10103", "1010")]);
    assert_found(&files, "d_lat.csv", &[("97.677", "77.677"), ("99.10", "199.10"), ("169.594", "269.594")]);
    let edits = [
        ("IOPS=29400", "IOPS=28000"),
        ("=97.677", "=90.677"),
        ("avg=169.594", "avg=109.594"),
        ("max=1924.7", "max=124.7"),
    ];
    assert_found(&files, "d_summary.txt", &edits);
    let large = ("d_mbps.csv", "Large/Small,      0\n      1,  400.5\n      2,  700.25\n");
    let best = summary.to_owned() + "Maximum Large MBPS=700.25 @ Small=0 and Large=2\n";
    assert_found(&[("d_summary.txt", &best), large], large.0, &[("700.25", "900.25"), ("400.5", "800.5")]);
}

#[test]
fn a_changed_log_of_pgio_contradicts_itself() {
    let log = "Launching sessions. 2 schema(s) will be accessed by 3 thread(s) each.\nLaunch phase took 1 seconds.\n\
        pg_stat_database stats:\n          datname| blks_hit| blks_read|blk_read_time|tup_returned\n\
        BEFORE:  sales    | 5000 | 1000 |   50 |  15\nAFTER:   sales    | 45000 | 2001000 |   400050 |  99\n\
        DBNAME:  sales. 2 schemas, 3 threads(each). Run time: 100 seconds. RIOPS >20000< CACHE_HITS/s >400< TIME_PER_READ_MS >0.2<\n";
    let edits = [
        ("RIOPS >20000<", "RIOPS >40000<"),
        ("CACHE_HITS/s >400<", "CACHE_HITS/s >800<"),
        ("TIME_PER_READ_MS >0.2<", "TIME_PER_READ_MS >0.1<"),
        ("Run time: 100", "Run time: 50"),
        ("| 2001000 |", "| 3001000 |"),
        ("2 schemas, 3 threads(each)", "1 schemas, 3 threads(each)"),
    ];
    assert_found(&[("pgio.log", log)], "pgio.log", &edits);
}

#[test]
fn a_changed_trace_contradicts_its_clock() {
    let trace = "Oracle Database 12c Enterprise Edition Release 12.1.0.1.0 - 64bit Production\n\
        *** SESSION ID:(409.215) 2013-08-26 14:40:23.035\n\
        EXEC #46:c=999,e=2042,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=1,tim=1377520823000000\n\
        WAIT #46: nam='db file sequential read' ela= 397700 file#=7 block#=29 blocks=1 obj#=1 tim=1377520823400000\n\
        WAIT #46: nam='db file sequential read' ela= 497700 file#=7 block#=39 blocks=1 obj#=1 tim=1377520823900000\n\
        FETCH #46:c=39994,e=950000,p=2,cr=2,cu=0,mis=0,r=1,dep=0,og=1,plh=1,tim=1377520823950000\n";
    let edits = [
        ("ela= 397700", "ela= 797700"),
        ("ela= 497700", "ela= 4977000"),
        ("c=39994", "c=1999400"),
        ("e=950000", "e=9500000"),
        ("tim=1377520823900000", "tim=1377520823500000"),
    ];
    assert_found(&[("t.trc", trace)], "t.trc", &edits);
    let other = trace.replace("409.215", "410.7");
    assert_eq!(contradictions(&[("merged.trc", &(trace.to_owned() + &other))]), None, "sessions work at the same time");
}

#[test]
fn changed_dates_of_records_contradict_their_clock() {
    let record = |clock: &str, time: &str, count: u32| {
        format!(
            "<begin record>\ntimestamp, microsec, {clock}, 26-AUG-13 {time} PM +02:00\nlabel,reads\nlatencyunit, millisec\n\
             datasource, v$event_histogram\n1, {count}\n2, 50\n<end record>\n\n"
        )
    };
    let text = record("52011653754", "04.26.51.653754", 100) + &record("52041653754", "04.27.21.653754", 200);
    assert_found(&[("r.txt", &text)], "r.txt", &[("04.27.21", "04.28.21"), ("52041", "52023")]);
}
