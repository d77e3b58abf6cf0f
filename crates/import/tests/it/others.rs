//! Traces, histograms, Orion, pgio and fio: each in a made-up file.
#![expect(clippy::format_push_string, clippy::format_collect, reason = "short texts, put together for once")]

use std::collections::BTreeMap;
use std::io::Cursor;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::shared;
use mindful_core::workload::OpKind;
use mindful_import::waits::{Field, Filter, Grouped, Kind};
use mindful_import::{Reported, recognised, runs};
use proptest::prelude::*;

use crate::reports::read;

fn grouped(text: impl Into<Vec<u8>>, fields: &[Field], filter: &Filter) -> mindful_core::Result<Grouped> {
    recognised("t", Box::new(Cursor::new(text.into())))?.grouped(fields, filter)
}

/// What a counter of the step grew by.
fn grew(reported: &Reported, counter: mindful_core::contract::metric::Counter) -> Option<f64> {
    let place = reported.events.iter().find_map(|event| match event {
        Event::Source { source, metrics, .. } => {
            let at = metrics.iter().position(|metric| metric.name == counter.name())?;
            Some((source.clone(), at))
        }
        _ => None,
    });
    let (source, at) = place?;
    let last = reported.events.iter().rev().find_map(|event| match event {
        Event::Sample { source: of, values, .. } if *of == source => Some(values[at]),
        _ => None,
    });
    last?
}

/// Waits as a trace has them.
fn trace(waits: &[(u64, u64, u64)]) -> String {
    let mut tim = 1_377_520_823_000_000;
    let mut text = String::from(
        "Oracle Database 12c Enterprise Edition Release 12.1.0.1.0 - 64bit Production\nInstance name: slob1\n\
         PARSING IN CURSOR #46929157733848 len=74 dep=1 uid=803 oct=3 lid=803 tim=1 hv=2 ad='6' sqlid='309mwpa4tk161'\n\
         SELECT COUNT(C2) FROM CF1\nEND OF STMT\n",
    );
    for (ela, file, blocks) in waits {
        tim = u64::wrapping_add(tim, ela.wrapping_add(7));
        let event = match blocks {
            0 => format!("nam='gc cr grant 2-way' ela= {ela} p1={file} p2=5 p3=1"),
            1 => format!("nam='db file sequential read' ela= {ela} file#={file} block#=9 blocks=1"),
            n if n % 2 == 0 => format!("nam='db file scattered read' ela= {ela} file#={file} block#=9 blocks={n}"),
            n => format!("nam='db file parallel read' ela= {ela} files=1 blocks={n} requests={n}"),
        };
        text += &format!("WAIT #46929157733848: {event} obj#=82008 tim={tim}\n");
    }
    text + &format!("FETCH #46929157733848:c=39994,e=1704156,p=257,cr=259,cu=0,mis=0,r=1,dep=1,og=1,plh=1,tim={tim}\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_wait_of_a_trace_is_counted_to_the_microsecond(waits in prop::collection::vec((0_u64..2_000_000, 1_u64..4, 0_u64..6), 1..400)) {
        let text = trace(&waits);
        let all = grouped(text.clone(), &[Field::Event, Field::File], &Filter::default()).unwrap();
        prop_assert_eq!(all.waits, waits.len() as u64);
        prop_assert_eq!(all.all.time_us, waits.iter().map(|(ela, ..)| ela).sum::<u64>());
        let mut singles: Vec<u64> = waits.iter().filter(|(.., blocks)| *blocks == 1).map(|(ela, ..)| *ela).collect();
        singles.sort_unstable();
        let (latencies, blocks) = &all.reads[Kind::Single as usize];
        prop_assert_eq!((latencies.count, *blocks), (singles.len() as u64, singles.len() as u64));
        prop_assert_eq!(latencies.max_us, singles.last().copied());
        if !singles.is_empty() {
            prop_assert_eq!(latencies.percentile_us(0.95), Some(singles[(0.95 * (singles.len() - 1) as f64) as usize]));
        }
        let mut by_key: BTreeMap<String, u64> = BTreeMap::new();
        for group in all.by_time() { *by_key.entry(group.key.clone()).or_default() += group.latencies.count; }
        prop_assert_eq!(by_key.values().sum::<u64>(), waits.len() as u64);
        let slow = Filter::parse("ela>=1000000").unwrap();
        let some = grouped(text.clone(), &[Field::Event], &slow).unwrap();
        prop_assert_eq!(some.all.count, waits.iter().filter(|(ela, ..)| *ela >= 1_000_000).count() as u64);
        let stored = read("t.trc", text).unwrap().remove(0);
        prop_assert_eq!(grew(&stored, shared::SINGLE_READS), Some(singles.len() as f64));
        let slices: u64 = stored.events.iter().map(|event| match event { Event::Slice { report, .. } => report.op(OpKind::Select).ops, _ => 0 }).sum();
        prop_assert_eq!(slices, singles.len() as u64);
    }

    #[test]
    fn no_trace_that_is_spoilt_makes_a_reader_panic(cut in 0.0_f64..1.0, junk in any::<Vec<u8>>()) {
        let mut text = trace(&[(10, 1, 1), (u64::MAX, 1, 1), (500, 2, 8)]).into_bytes();
        let at = (text.len() as f64 * cut) as usize;
        text.splice(at..at, junk);
        let _ = read("t.trc", text.clone());
        let _ = grouped(text.clone(), &[Field::Block, Field::Second], &Filter::default());
    }

    #[test]
    fn clocks_that_jump_cost_no_memory(tims in prop::collection::vec(any::<u64>(), 1..50)) {
        let text: String = tims.iter().map(|tim| format!("WAIT #1: nam='db file sequential read' ela= 7 p1=1 p2=2 p3=1 obj#=1 tim={tim}\n")).collect();
        if let Ok(reported) = read("t.trc", text) {
            prop_assert!(reported[0].events.len() < 5_000);
        }
    }
}

#[test]
fn calls_of_a_trace_are_reported_with_the_first_of_each() {
    let reported = read("t.trc", trace(&[(977, 7, 1), (10_162, 7, 1)])).unwrap().remove(0);
    assert_eq!(reported.facts["calls FETCH"], "1; the first p=257 cr=259 e=1704156 c=39994");
    assert_eq!(
        (reported.version.as_deref(), reported.target.as_str()),
        (Some("12.1.0.1.0"), "oracle: a session of instance slob1")
    );
}

#[test]
fn a_trace_that_read_ahead_is_reported() {
    let reported = read("t.trc", trace(&[(977, 7, 1), (5_000, 7, 39)])).unwrap().remove(0);
    let finding = reported.findings.iter().find(|finding| finding.code == "prefetched").unwrap();
    assert!(finding.evidence.contains("1 of 2 reads, 39 blocks"), "{}", finding.evidence);
}

#[test]
fn a_trace_without_waits_says_which_level_has_them() {
    let text = "EXEC #1:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=1,tim=5\n";
    assert!(read("t.trc", text).unwrap_err().to_string().contains("level 8 or 12"));
}

/// A record of one or two instances.
fn record(clock: u64, instances: &[&[(u64, u64)]]) -> String {
    let buckets: String =
        instances.iter().flat_map(|i| i.iter()).map(|(bucket, count)| format!("{bucket}, {count}\n")).collect();
    format!(
        "<begin record>\ntimestamp, microsec, {clock},?\nlabel,reads\nlatencyunit, millisec\n{buckets}<end record>\n\nPL/SQL procedure successfully completed.\n\n"
    )
}

#[test]
fn histograms_are_reported_from_record_to_record() {
    let text = record(86_399_000_000, &[&[(1, 100), (2, 50)], &[(1, 10)]])
        + &record(1_000_000, &[&[(1, 13)], &[(1, 100), (2, 150)]])
        + &record(3_000_000, &[&[(1, 5)], &[(1, 300), (2, 150)]]);
    let reported = read("h.txt", text).unwrap().remove(0);
    let slices: Vec<_> = reported
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Slice { report, .. } => Some((
                report.end_us - report.begin_us,
                report.op(OpKind::Select).latency.buckets.iter().collect::<Vec<_>>(),
            )),
            _ => None,
        })
        .collect();
    // The clock passed midnight, and the instances changed places; in the third record one was started anew.
    assert_eq!(slices, [(2_000_000, vec![(500_000, 3), (1_500_000, 100)])]);
    assert!(reported.findings.iter().any(|finding| finding.code == "imported-doubt"));
}

#[test]
fn a_single_record_tells_no_change() {
    let error = read("h.txt", record(1, &[&[(1, 5)]])).unwrap_err().to_string();
    assert!(error.contains("take at least two records"), "{error}");
}

#[test]
fn the_rate_of_pgio_is_refused_where_the_launch_was_long() {
    let text = "Launching sessions. 4 schema(s) will be accessed by 128 thread(s) each.\nLaunch phase took 288 seconds.\n\
        DBNAME:  pg10. 4 schemas, 128 threads(each). Run time: 123 seconds. RIOPS >390969< CACHE_HITS/s >12345<\n";
    let reported = read("pgio.out", text).unwrap().remove(0);
    assert_eq!((reported.sessions, reported.target.as_str()), (Some(512), "postgres: pg10"));
    let reads = grew(&reported, shared::PHYSICAL_READS).unwrap();
    let Event::Started { boundaries_us, .. } = &reported.events[0] else { panic!("it started") };
    let rate = reads / (boundaries_us[1] - boundaries_us[0]) as f64 * 1e6;
    assert!((117_000.0..117_010.0).contains(&rate), "{rate}");
    let finding = reported.findings.iter().find(|finding| finding.code == "imported-doubt").unwrap();
    assert!(finding.evidence.contains("390969 printed"), "{}", finding.evidence);
}

#[test]
fn orions_summary_and_matrices_are_read() {
    let summary = "ORION VERSION 11.2.0.1.0\n\nCommand line:\n-run oltp -testname disks -num_disks 12\n\nSmall IO size: 8 KB\nDuration for each Data Point: 60 seconds\n\n\
        Maximum Large MBPS=812.50 @ Small=0 and Large=24\nMaximum Small IOPS=2114 @ Small=24 and Large=0\nMinimum Small Latency=4567.89 usecs @ Small=1 and Large=0\n";
    let reported = read("disks_20120101_1200_summary.txt", summary).unwrap();
    assert_eq!(reported.len(), 3);
    let at = |sessions| reported.iter().find(|step| step.sessions == Some(sessions) && step.point.is_empty()).unwrap();
    assert_eq!(grew(at(24), shared::READ_REQUESTS), Some(2114.0 * 60.0));
    assert_eq!(grew(at(1), shared::SINGLE_READ_TIME_US), Some(4567.89));
    assert_eq!(grew(at(1), shared::READ_REQUESTS), None, "a latency alone is no rate");
    let matrix = "Large/Small,      1,      2,      3\n      0,    176,    344,    501\n";
    let reported = read("disks_iops.csv", matrix).unwrap();
    assert_eq!(reported.iter().map(|step| step.sessions).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    let [ladder] = &runs(reported)[..] else { panic!("one ladder") };
    assert_eq!(ladder.events.iter().filter(|event| matches!(event, Event::Step(_))).count(), 3);
    let error = read("disks.csv", matrix).unwrap_err().to_string();
    assert!(error.contains("_iops.csv"), "{error}");
}

#[test]
fn fio_with_and_without_each_latency_is_read() {
    let job = |bins: &str| {
        format!(
            "fio: a note\n{{\"fio version\": \"fio-3.36\", \"timestamp\": 1700000000, \"global options\": {{\"bs\": \"8k\", \"direct\": \"1\"}},\n\
         \"jobs\": [{{\"jobname\": \"r\", \"error\": 0, \"job options\": {{\"rw\": \"randread\", \"numjobs\": \"16\"}},\n\
         \"read\": {{\"total_ios\": 1000, \"io_bytes\": 8192000, \"bw_bytes\": 819200, \"runtime\": 10000, \"iops\": 100.0,\n\
         \"clat_ns\": {{\"min\": 90000, \"max\": 900000, \"mean\": 150000.0, \"N\": 1000, \"percentile\": {{\"99.000000\": 880000}}{bins}}}}},\n\
         \"write\": {{\"total_ios\": 0, \"runtime\": 0}}}}]}}"
        )
    };
    let reported = read("r.json", job("")).unwrap().remove(0);
    assert_eq!((reported.sessions, reported.block_bytes), (Some(16), Some(8192)));
    assert_eq!(grew(&reported, shared::SINGLE_READ_TIME_US), Some(150_000.0));
    assert_eq!(reported.facts["fio read p99 us"], "880");
    let with = read("r.json", job(", \"bins\": {\"100000\": 900, \"800000\": 100}")).unwrap().remove(0);
    let ops = with.events.iter().map(|event| match event {
        Event::Slice { report, .. } => report.op(OpKind::Select).ops,
        _ => 0,
    });
    assert_eq!(ops.sum::<u64>(), 1_000);
    let cut = job("");
    assert!(read("r.json", &cut[..cut.len() - 20]).unwrap_err().to_string().contains("begins as fio's JSON"));
}

#[test]
fn workers_by_rate_are_a_ladder() {
    let reported = read("RAC_LIO.csv", "Num_concurrent_workers,Oracle_Logical_IOPS\n1,0.75\n2,1.5  \n4,3.2\n").unwrap();
    assert_eq!(reported.iter().map(|step| step.sessions).collect::<Vec<_>>(), [Some(1), Some(2), Some(4)]);
    assert_eq!(grew(&reported[1], shared::LOGICAL_READS), Some(1.5e6 * 60.0));
}

#[test]
fn nobody_is_believed_to_have_had_a_billion_sessions() {
    let text = "Num_concurrent_workers,Oracle_Logical_IOPS\n1999999996,6\n4,3.2\n";
    let sessions: Vec<_> = runs(read("LIO.csv", text).unwrap())
        .iter()
        .flat_map(|run| &run.events)
        .filter_map(|event| match event {
            Event::Step(head) => Some((head.sessions, head.placements.len())),
            _ => None,
        })
        .collect();
    assert_eq!(sessions, [(Some(4), 0), (None, 0)], "a list of so many would take all memory");
}
