//! AWR and Statspack reports of each version, made up for the test, are read back to the last digit they print.

use std::io::Write as _;
use std::time::{Duration, Instant};

use mindful_import::rows::{self, ReportRow};
use mindful_oracle_terms::event;
use proptest::prelude::*;

use crate::made::{Dress, Made, showcase};
use crate::measured::{of, one, read, read_latencies};
use crate::samples::{CLUSTER_PAGE, DRESSES};

fn near(value: Option<f64>, wanted: f64, off: f64, what: &str) {
    let value = value.unwrap_or_else(|| panic!("{what} is not reported"));
    assert!((value - wanted).abs() <= off + 1e-9 * wanted.abs(), "{what}: {value} for {wanted}");
}

fn made() -> impl Strategy<Value = Made> {
    let rates = prop::array::uniform8(0.1_f64..5e6);
    let waits = (1_000_u64..9_000_000, 1_u64..30_000, 1_u64..9_000_000, 0_u64..9_000);
    (2.0_f64..700.0, rates, waits).prop_map(|(minutes, r, (a, b, c, d))| Made {
        minutes: (minutes * 100.0).round() / 100.0,
        db_time: r[0] / 1e5,
        db_cpu: r[1] / 1e6,
        executes: r[2],
        logical: r[3] * 10.0,
        blocks_read: r[4],
        read_requests: r[5],
        read_bytes: r[5] * 8192.0,
        write_requests: r[6],
        write_bytes: r[6] * 8192.0,
        redo: r[7] * 100.0,
        redo_writes: 7.5,
        foreground: vec![
            (event::SINGLE_READ, a, b),
            (event::DIRECT_READ, c, d),
            (event::DIRECT_READ_TEMP, 77, 5),
            (event::LOG_SYNC, 1_000, 3),
        ],
        background: vec![(event::PARALLEL_WRITE, c, d + 1), (event::LOG_WRITE, 464, 2)],
        top_percent: 42.6,
    })
}

fn as_made(made: &Made, dress: Dress) {
    let step = one("awr.txt.64", made.report(dress));
    let f = of(&step);
    let said = |what: &str| format!("{what} in {dress:?}");
    assert_eq!((f.sessions, f.cluster, f.host.as_deref()), (Some(64), Some(false), Some("box")), "{dress:?}");
    assert_eq!(f.database.as_deref(), if dress == Dress::Statspack { None } else { Some("SLOB") }, "{dress:?}");
    near(f.elapsed_s, made.seconds(), 1.0, &said("elapsed"));
    near(f.average_active_sessions, made.db_time, 0.01 + made.db_time * 0.01, &said("active sessions"));
    near(f.executes_per_s, made.executes, 0.05, &said("executes"));
    near(f.logical_reads_per_s, made.logical, 0.05, &said("logical reads"));
    near(f.blocks_read_per_s, made.blocks_read, 0.05, &said("blocks read"));
    near(f.read_requests_per_s, made.read_requests, 0.05, &said("read requests"));
    near(f.write_requests_per_s, made.write_requests, 0.05, &said("write requests"));
    near(f.write_requests_but_redo_per_s, made.write_requests, 0.1, &said("writes without redo"));
    near(f.redo_mib_per_s, made.redo / 1_048_576.0, 1e-6, &said("redo"));
    let [(_, reads, took), (_, direct, direct_took), ..] = made.foreground[..] else { panic!("two events") };
    let mean = |waits: u64, seconds: u64| seconds as f64 * 1e6 / waits as f64;
    near(f.single_read.mean_us, mean(reads, took), f.single_read.error_us.unwrap(), &said("single reads"));
    near(f.single_read.waits, reads as f64, 0.0, &said("single reads"));
    if direct_took > 0 {
        let error = f.direct_read.error_us.unwrap();
        near(f.direct_read.mean_us, mean(direct, direct_took), error, &said("direct reads, not those of temp"));
    } else {
        assert_eq!(f.direct_read.mean_us, None, "a time that is printed as 0 is no latency");
    }
    near(f.direct_read_temp.mean_us, mean(77, 5), f.direct_read_temp.error_us.unwrap(), &said("direct reads of temp"));
    near(f.log_write.mean_us, mean(464, 2), f.log_write.error_us.unwrap(), &said("log writes"));
    // Whole seconds over 464 waits, means in whole ms, and since 12.2 in ms with two decimals.
    let late = [Dress::Awr19, Dress::Html].contains(&dress);
    near(f.log_write.error_us, if late { 5.0 } else { 500.0 }, 0.001, &said("rounding of log writes"));
    assert_eq!(f.parallel_read.waits, Some(0.0), "a whole list that lacks an event has no waits for it: {dress:?}");
    assert_eq!(f.parallel_read.mean_us, None);
    assert_eq!(f.top_event.as_deref(), Some(event::SINGLE_READ));
    near(f.buffer_hit_pct, 40.25, 0.0, &said("hits"));
    let counted = read_latencies(&step);
    assert_eq!(counted.is_some(), dress != Dress::Awr10, "{dress:?}");
    if let Some(counted) = counted {
        let below_ms: u64 = counted.buckets.iter().filter(|(ns, _)| *ns < 1_000_000).map(|(_, count)| count).sum();
        near(Some(counted.count() as f64), reads as f64, 3.0, &said("reads in buckets"));
        near(Some(below_ms as f64), reads as f64 * 0.7, 2.0, &said("reads below a millisecond"));
        let open_ns = if late { 32_000_000 } else { 1_024_000_000 };
        assert_eq!(counted.max_ns, open_ns, "the begin of the bucket without an end in {dress:?}");
        near(
            counted.mean_ns(),
            mean(reads, took) * 1e3,
            6e-3 * mean(reads, took) * 1e3,
            &said("their mean by the list of waits"),
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn rendered_reports_are_read_back_in_every_form(made in made()) {
        for dress in DRESSES { as_made(&made, dress); }
    }

    #[test]
    fn a_truncated_report_shows_no_lost_figure(made in made(), at in 0.0_f64..1.0) {
        for dress in DRESSES {
            let whole = made.report(dress);
            let mut cut = (whole.len() as f64 * at) as usize;
            while !whole.is_char_boundary(cut) { cut -= 1; }
            let Ok(steps) = read("awr.txt", &whole[..cut]) else { continue };
            let f = of(&steps[0]);
            let same = |value: Option<f64>, wanted: f64| value.is_none_or(|value| (value - wanted).abs() <= 1.0 + wanted * 0.02 || value < wanted && value > 0.0);
            prop_assert!(same(f.read_requests_per_s, made.read_requests), "{dress:?} at {cut}: {:?}", f.read_requests_per_s);
            prop_assert!(f.read_requests_per_s != Some(0.0) && f.logical_reads_per_s != Some(0.0));
            prop_assert!(steps[0].findings.iter().any(|finding| finding.code == "imported-doubt") || whole[..cut].contains("End of Report"));
        }
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..2_000), dress in 0..DRESSES.len(), at in 0.0_f64..1.0) {
        let mut whole = showcase().report(DRESSES[dress]).into_bytes();
        let place = (whole.len() as f64 * at) as usize;
        whole.splice(place..(place + bytes.len()).min(whole.len()), bytes.clone());
        let _ = read("awr.txt", whole);
        let _ = read("x", bytes);
    }
}

#[test]
fn every_line_may_be_the_last() {
    for dress in DRESSES {
        let whole = showcase().report(dress);
        let mut end = 0;
        for line in whole.split_inclusive('\n') {
            end += line.len();
            let _ = read("awr.txt.1", &whole[..end]);
        }
    }
}

#[test]
fn the_published_sample_comes_out_as_its_tuple() {
    let step = one("awr.txt.128", showcase().report(Dress::Awr11));
    let text = rows::awr_info(&[ReportRow::of(&step).unwrap()]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "FILE|SESSIONS|ELAPSED|DB CPU|DB Tm|EXECUTES|LIO|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|LFPW_LAT|TOP WAIT"
    );
    assert_eq!(
        lines[1],
        "awr.txt.128|128|304|5.7|126.5|370|119749|71553|559.1|25884|329|108.2|759|0|0|312|440000|db file sequential read 42.6 %"
    );
}

#[test]
fn flashdba_columns_take_redo_out_of_writes() {
    let step = one("awr.txt.128", showcase().report(Dress::Awr12));
    let text = rows::flashdba(&[ReportRow::of(&step).unwrap()]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| lines[1][lines[0].iter().position(|title| *title == name).unwrap()];
    assert_eq!((cell("Write IOPS"), cell("All Write IOPS"), cell("Redo IOPS")), ("25884.299", "25886.5", "2.201"));
    assert_eq!((cell("Cluster"), cell("Busy Flag"), cell("Num CPUs"), cell("DB Block Size")), ("N", "Y", "32", "8K"));
    assert_eq!((cell("Top5 Event1 Name"), cell("Top5 Event3 Name")), ("db file sequential read", ""));
    assert_eq!(cell("Buffer Hit Ratio (%)"), "40.25");
    let shares: Vec<&str> =
        lines[0].iter().zip(&lines[1]).filter(|(n, _)| n.starts_with("Histogram")).map(|(_, c)| *c).collect();
    assert_eq!(shares, ["70", "20", "9", "0", "0.9", "0", "0", "0.1", "", "", "", "", "", "", "", ""]);
    assert_eq!((cell("User Calls/sec"), cell("OS iowait time")), ("", ""), "what was not reported is blank, never 0");
}

fn cells(text: &str, between: char) -> Vec<(&str, &str)> {
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    lines[0].split(between).zip(lines[1].split(between)).collect()
}

#[test]
fn rows_of_older_tools_are_read_back_to_the_rows_they_were() {
    for dress in [Dress::Awr11, Dress::Awr12, Dress::Awr19] {
        let step = one("awr.txt.128", showcase().report(dress));
        let rows = [ReportRow::of(&step).unwrap()];
        let tuple = rows::awr_info(&rows);
        let again = one("old", tuple.clone());
        assert_eq!((again.sessions, again.what, again.file.as_str()), (Some(128), "row of awr_info", "awr.txt.128"));
        let tuple_again = rows::awr_info(&[ReportRow::of(&again).unwrap()]);
        for ((column, then), (_, now)) in cells(&tuple, '|').into_iter().zip(cells(&tuple_again, '|')) {
            // The mean of batches is kept as a fact; their number is not reported.
            let kept = ["DFPW_LAT", "LFPW_LAT"].contains(&column);
            assert_eq!(now, if kept { "" } else { then }, "{column} in {dress:?}");
        }
        let batches = cells(&tuple, '|').into_iter().find(|(column, _)| *column == "DFPW_LAT");
        assert_eq!(again.facts.get("DFPW_LAT us").map(String::as_str), batches.map(|(_, cell)| cell));
        let table = rows::flashdba(&rows);
        let again = one("old", table.clone());
        assert_eq!((again.sessions, again.what), (Some(128), "row of flashdba's parser"));
        let table_again = rows::flashdba(&[ReportRow::of(&again).unwrap()]);
        let mut figures = 0;
        for ((column, then), (_, now)) in cells(&table, ',').into_iter().zip(cells(&table_again, ',')) {
            match (then.parse::<f64>(), now.parse::<f64>()) {
                (Ok(then), Ok(now)) => {
                    assert!((then - now).abs() <= 2e-3 + 2e-3 * then.abs(), "{column} in {dress:?}: {now} for {then}");
                    figures += 1;
                }
                _ => assert_eq!(now, then, "{column} in {dress:?}"),
            }
        }
        assert!(figures > 60, "{figures} in {dress:?}: {table}");
    }
}

#[test]
fn a_row_without_a_figure_leaves_it_unknown() {
    let file = |rows: &[[&str; 18]]| {
        let rows: Vec<_> = rows.iter().map(|row| row.join("|")).collect();
        read("old.txt", format!("{}\n{}\n", rows::AWR_INFO, rows.join("\n")))
    };
    let few = ["x", "4", "60", "", "", "", "", "100", "", "", "", "", "500", "", "", "", "", ""];
    let bad = ["x", "8", "60", "1e999", "-3", ",", "#", "-", "", "", "", "", "", "", "", "", "", "z %"];
    let steps = file(&[few, bad]).unwrap();
    assert_eq!(steps.iter().map(|step| step.sessions).collect::<Vec<_>>(), [Some(4), Some(8)]);
    let f = of(&steps[0]);
    assert_eq!((f.read_requests_per_s, f.single_read.mean_us), (Some(100.0), Some(500.0)));
    assert_eq!((f.direct_read.waits, f.db_cpu_cores, f.redo_mib_per_s), (None, None, None), "blank is never 0");
    assert_eq!((f.scattered_read.waits, f.log_sync.waits), (None, None), "nor is what has no column");
    let f = of(&steps[1]);
    assert_eq!((f.read_requests_per_s, f.single_read.waits, f.db_cpu_cores), (None, None, None));
    let refused = file(&[[""; 18]]).unwrap_err().to_string();
    assert!(refused.contains("no load profile"), "{refused}");
}

#[test]
fn a_separator_at_the_end_of_a_row_is_no_cell() {
    let row = |end: &str| format!("a.8|8|60|||5|100|||||||||||{end}\n");
    for (heading_end, row_end) in [("", ""), ("", "|"), ("|", ""), ("|", "|")] {
        let steps = read("old.txt", format!("{}{heading_end}\n{}", rows::AWR_INFO, row(row_end))).unwrap();
        let damaged = steps[0].findings.iter().any(|finding| finding.text.contains("damaged"));
        assert_eq!((of(&steps[0]).executes_per_s, damaged), (Some(5.0), false), "{heading_end} and {row_end}");
    }
    let moved = format!("{}\n{}{}", rows::AWR_INFO, row(""), row("|x"));
    assert_eq!(read("old.txt", moved).unwrap().len(), 1, "a row with one cell more");
}

#[test]
fn exadata_reads_count_as_reads_of_files() {
    let text = showcase().report(Dress::Awr19).replace("db file sequential read   ", "cell single block physical");
    let step = one("awr.txt", text);
    let f = of(&step);
    near(f.single_read.mean_us, 759.0, 0.1, "single reads");
    let flash = rows::flashdba(&[ReportRow::of(&step).unwrap()]);
    assert!(flash.contains("Exadata Flag") && flash.lines().nth(1).unwrap().contains(",N,Y,"), "{flash}");
}

#[test]
fn two_reports_in_a_file_are_two_steps() {
    let text = showcase().report(Dress::Awr11);
    let alone = one("awr.txt", text.clone());
    let other = Made { executes: 5.0, ..showcase() }.report(Dress::Awr11);
    let both = read("awr.txt", text + &other).unwrap();
    assert_eq!(both.iter().map(|step| step.file.as_str()).collect::<Vec<_>>(), ["awr.txt#1", "awr.txt#2"]);
    assert_eq!(both[0].events, alone.events);
    near(of(&both[1]).executes_per_s, 5.0, 0.0, "executes of the second");
}

#[test]
fn gzip_is_undone() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(showcase().report(Dress::Html).as_bytes()).unwrap();
    let steps = read("awr.html.128.gz", packed.finish().unwrap()).unwrap();
    assert_eq!(steps[0].sessions, Some(128));
}

#[test]
fn a_section_that_is_not_there_is_unknown() {
    let text = showcase().report(Dress::Awr11);
    let at = text.find("Background Wait Events").unwrap();
    let end = at + text[at..].find("Time Model").unwrap();
    let step = one("awr.txt", format!("{}{}", &text[..at], &text[end..]));
    let f = of(&step);
    assert_eq!((f.log_write.waits, f.log_write.mean_us), (None, None));
    assert!(rows::awr_info(&[ReportRow::of(&step).unwrap()]).contains("|759|0|0|||"), "blank, not 0");
}

#[test]
fn a_report_of_a_cluster_has_the_figures_of_all_instances() {
    let text = include_str!("made/reports/cluster.txt");
    let [text, page] = [("awr_rac.txt.64", text), ("awrrac.html.64", CLUSTER_PAGE)].map(|(name, text)| {
        let step = one(name, text);
        let f = of(&step);
        assert_eq!((f.report, f.cluster, f.instance.as_deref()), ("AWR report of a cluster", Some(true), None));
        near(f.elapsed_s, 600.0, 0.0, "elapsed");
        near(f.average_active_sessions, 12.0, 0.0, "active sessions");
        near(f.logical_reads_per_s, 30_000.0, 0.0, "logical reads");
        near(f.blocks_read_per_s, 10_000.0, 0.0, "physical reads, which are blocks there");
        near(f.redo_mib_per_s, 500.0 / 1024.0, 1e-9, "redo");
        near(f.single_read.mean_us, 500.0, 0.0, "single reads of all instances");
        (f, step)
    });
    assert_eq!(text.0.read_requests_per_s, None, "a global report does not contain requests per second");
    let (f, step) = page;
    assert_eq!((f.database.as_deref(), f.host.as_deref()), (Some("SLOB"), Some("node1, node2")));
    assert_eq!((f.version.as_deref(), f.sessions, step.block_bytes), (Some("19.0.0.0.0"), Some(64), Some(8192)));
    near(f.db_cpu_cores, 620.0 / 600.0, 1e-9, "CPU of sessions and background of all instances");
    near(f.cpus, 32.0, 0.0, "CPUs of all hosts");
    near(f.read_requests_per_s, 9_000.0, 0.0, "requests, by the global statistics");
    near(f.all_read_requests_per_s, 9_100.0, 0.0, "all requests");
    near(f.redo_writes_per_s, 100.0, 0.0, "redo writes");
    near(f.write_requests_but_redo_per_s, 200.0, 0.0, "writes without redo");
    near(f.single_read.waits, 2e6, 0.0, "reads of sessions alone");
    near(f.log_write.mean_us, 500.0, 0.0, "log writes of the background");
    assert_eq!((f.direct_read.waits, f.log_sync.waits), (None, None), "a list of the longest waits lacks others");
    assert_eq!((f.top_event.as_deref(), f.top_event_pct), (Some("db file sequential read"), Some(13.89)));
    assert!(!format!("{:?}", step.findings).contains("no row that could be read"), "{:?}", step.findings);
}

#[test]
fn a_file_that_is_not_a_report_is_refused_with_its_content() {
    let refused = |bytes: &[u8]| read("x.txt", bytes).unwrap_err().to_string();
    let failed = "\nselect output from table(f());\n   *\nERROR at line 1:\nORA-00904: \"F\": invalid identifier\n";
    assert!(refused(failed.as_bytes()).contains("ORA-00904: \"F\": invalid identifier"));
    assert!(refused(b"").contains("is empty"));
    assert!(refused(&[0; 4096]).contains("contains zeros"));
    assert!(refused(b"\x7fELF\0\0\0\x01").contains("binary data"));
    assert!(refused(b"ASH Report For SLOB/slob\n").contains("an ASH report"));
    assert!(refused(b"execve(\"/bin/ls\", [\"ls\"]) = 0\n").contains("begins with `execve"));
    assert!(refused(b"WORKLOAD REPOSITORY report for\n\nnothing else\n").contains("no load profile"));
}

/// `head` and then `line` many times, packed: a small file.
fn packed(head: &str, line: &str, times: usize) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(head.as_bytes()).unwrap();
    for _ in 0..times {
        packed.write_all(line.as_bytes()).unwrap();
    }
    packed.finish().unwrap()
}

#[test]
fn a_small_file_of_endless_reports_or_instances_is_refused() {
    const RECORD: &str = "<begin record>\nlabel, x\nlatencyunit, millisec\n";
    let record = |number: usize| format!("<begin record>\nlabel, x{number}\n1, 1\n<end record>\n");
    let labels: String = (0..9_000).map(record).collect();
    let statspack = showcase().report(Dress::Statspack);
    let heading = statspack.lines().find(|line| line.contains("STATSPACK report for")).unwrap().to_owned() + "\n";
    let table = |file: &str| std::iter::repeat_n(file, 2_000).collect::<Vec<_>>().join(",");
    for (name, head, line, what) in [
        ("records", RECORD, "1, 1\n", "more than 128 instances"),
        ("records", &format!("{RECORD}<end record>\n{labels}"), "\n", "9001 labels"),
        ("awr.txt", "", "WORKLOAD REPOSITORY report for\n", "more than 4096 reports"),
        ("awr.html", "<html><", "h1>WORKLOAD REPOSITORY report for", "more than 4096 reports"),
        ("awr.txt", "WORKLOAD REPOSITORY report for\n", "WORKLOAD REPOSITORY report for ", "has no load profile"),
        ("sp.txt", "", &heading, "more than 4096 reports"),
        ("info", &format!("{}\n", rows::AWR_INFO), "|||||||||||||||||\n", "more than 4096 reports"),
        ("fio.json", "{\"fio version\": \"f\", \"jobs\": [", "{},", "more than 4096 jobs"),
        ("rows.csv", &format!("{},{}\n", rows::flashdba_names().join(","), table("x")), &table("y"), "rows.csv"),
    ] {
        let times = if line.len() > 100 { 100 } else { 50_000 };
        let end = if name == "records" { "<end record>\n" } else { "" };
        let mut file = packed(head, line, times);
        file.extend(packed(end, "", 0));
        assert!(file.len() < 1 << 20, "{name}: {} bytes", file.len());
        let began = Instant::now();
        let error = read(name, file).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(what) && error.lines().count() == 1, "{name}: {error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
    }
}
