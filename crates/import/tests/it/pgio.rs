//! The line of pgio.

use mindful_core::contract::metric::Counter;

use crate::measured::{grew, read, runs_of, seconds, shown};

#[test]
fn the_rate_of_pgio_is_refused_where_the_launch_was_long() {
    let text = "Launching sessions. 4 schema(s) will be accessed by 128 thread(s) each.\nLaunch phase took 288 seconds.\n\
        DBNAME:  pg10. 4 schemas, 128 threads(each). Run time: 123 seconds. RIOPS >390969< CACHE_HITS/s >12345<\n";
    let step = read("pgio.out", text).unwrap().remove(0);
    assert_eq!((step.sessions, step.target.as_str()), (Some(512), "postgres: pg10"));
    let reads = grew(&step.events, Counter::PhysicalReads).unwrap();
    let rate = reads / seconds(&step.events);
    assert!((117_000.0..117_010.0).contains(&rate), "{rate}");
    let finding = step.findings.iter().find(|finding| finding.code == "imported-doubt").unwrap();
    assert!(finding.evidence.contains("390969 printed"), "{}", finding.evidence);
}

/// A log of pgio 1.0, with and without the time of a read.
fn log(last: &str) -> String {
    format!(
        "Database connect string: \"-h 10.1.2.3 -U bench\".\nLaunching sessions. 2 schema(s) will be accessed by 3 thread(s) each.\n\
         pg_stat_database stats:\n          datname| blks_hit| blks_read|blk_read_time|tup_returned\n\
         BEFORE:  sales    | 500 | 1000 |   50 |  15\nAFTER:   sales    | 900 | 11000 |   2050 |  99\n\
         DBNAME:  sales. 2 schemas, 3 threads(each). Run time: 100 seconds. RIOPS >100< CACHE_HITS/s >4<{last}\n"
    )
}

#[test]
fn a_reads_time_is_the_printed_latency_or_from_counters() {
    for last in [" TIME_PER_READ_MS >0.2<", ""] {
        assert_eq!(runs_of(&[("pgio.log", &log(last))])[0].target, "postgres://bench@10.1.2.3/sales");
        assert_eq!(shown(&[("pgio.log", &log(last))]), ["6 sessions: 100 blocks, 200 us"]);
    }
    let untimed = log(" TIME_PER_READ_MS >0<").replace("2050", "50");
    assert_eq!(shown(&[("pgio.log", &untimed)]), ["6 sessions: 100 blocks"], "without track_io_timing");
}

#[test]
fn counters_have_more_digits_than_the_printed_rate() {
    let slow = log(" TIME_PER_READ_MS >0.20<").replace("11000", "10960").replace("2050", "2046.5");
    // 1,996.5 ms of 9,960 reads.
    assert_eq!(shown(&[("pgio.log", &slow)]), ["6 sessions: 99.6 blocks, 200.452 us"]);
    let wide = log(" TIME_PER_READ_MS >0.2<").replace("RIOPS >100<", "RIOPS >####<");
    assert_eq!(shown(&[("pgio.log", &wide)]), ["6 sessions: 100 blocks, 200 us"]);
}

#[test]
fn a_decimal_comma_is_no_group_of_digits() {
    let commas = log(" TIME_PER_READ_MS >0,20512<")
        .replace("|blk_read_time", "")
        .replace("|   50 |", "|")
        .replace("|   2050 |", "|");
    assert_eq!(shown(&[("pgio.log", &commas)]), ["6 sessions: 100 blocks"], "not 20,512 ms");
}

#[test]
fn a_connect_string_with_quotes_is_read_to_its_end() {
    let quoted =
        log("").replace("\"-h 10.1.2.3 -U bench\"", "\"host=10.1.2.3 user=bench password=\"a b\" dbname=other\"");
    assert_eq!(runs_of(&[("pgio.log", &quoted)])[0].target, "postgres://bench@10.1.2.3/other");
}
