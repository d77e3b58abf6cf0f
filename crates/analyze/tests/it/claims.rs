//! Levels of the ledger that differ: the headline claims less, and a finding has both figures.

use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::{Analysis, analyze};
use mindful_core::contract::description::{CacheRequests, Description};
use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::plan::units::Share;
use mindful_core::record::run::Run;
use mindful_core::result::finding;
use mindful_core::workload::OpKind;

use crate::judged::{self, codes, found, has, headline, kind};
use crate::made::{BLOCK_BYTES, Made, add, add_gauge, scale, state};

pub(crate) fn evidence<'a>(analysis: &'a Analysis, code: &str) -> &'a str {
    judged::evidence(analysis, code).unwrap_or_else(|| panic!("no {code}: {:?}", codes(analysis)))
}

/// The data lies on another device than the one that was sampled.
#[test]
fn a_device_that_read_less_than_was_fetched_is_no_storage() {
    let analysis = analyze(&Made { device: 0.001, ..Made::default() }.run());
    assert_eq!(kind(&analysis), HeadlineKind::Database);
    let evidence = evidence(&analysis, "levels-disagree");
    assert!(
        evidence.contains("fetched 311.9 MiB/s") && evidence.contains("the device of the data read 0.3 MiB/s"),
        "{evidence}"
    );
}

/// As of SQLite, which reads through the page cache: what passes it is a difference of two large figures.
#[test]
fn a_few_reads_past_the_page_cache_are_no_level() {
    let made = Made { from_storage: 0.0, ..Made::default() };
    let blocks = (made.ops_per_slice() * 4 * 64) as f64;
    let judged = |reads: f64| {
        let rates = [
            (Counter::ProcessReadBytes.name(), blocks * reads * 8_192.0),
            (Counter::DeviceReads.name(), blocks * reads * 0.7),
            (Counter::DeviceReadBytes.name(), blocks * reads * 8_192.0 * 0.7),
        ];
        analyze(&made.with("device", &rates))
    };
    let [few, many] = [judged(0.005), judged(0.2)];
    assert!(codes(&few).contains(&"page-cache") && !codes(&few).contains(&"levels-disagree"), "{few:?}");
    assert!(codes(&many).contains(&"levels-disagree"), "{many:?}");
}

/// As for a table in key order with the kernel's read-ahead: all bytes come from the device, in few requests.
#[test]
fn few_large_requests_are_no_iops() {
    let made = Made::default();
    let blocks = made.blocks_per_s();
    let ahead = |requests: f64| analyze(&made.with("device", &[(Counter::DeviceReads.name(), blocks * requests)]));
    assert_eq!(kind(&ahead(1.0)), HeadlineKind::Storage);
    let few = ahead(1.0 / 43.0);
    assert_eq!(kind(&few), HeadlineKind::Database);
    assert!(evidence(&few, "levels-disagree").contains("requests/s of 34"), "{few:?}");
    assert_eq!(kind(&ahead(2.0)), HeadlineKind::Database, "split requests are no IOPS either");
}

/// As of synced writes to a file: what reads the device a few times a second is a journal or another program.
#[test]
fn a_few_reads_of_others_do_not_spoil_a_run_of_writes() {
    let made = Made { update_pct: "100", miss: 0.0, ..Made::default() };
    let blocks = made.blocks_per_s();
    let judged = |reads: f64, bytes: f64| {
        let others = [
            (Counter::PhysicalWrites.name(), blocks),
            (Counter::DeviceReads.name(), reads),
            (Counter::DeviceReadBytes.name(), reads * bytes),
        ];
        let mut run = made.with("device", &others);
        run.description.as_mut().unwrap().files = true;
        codes(&analyze(&run)).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let spoiled = |codes: &[String]| codes.iter().any(|code| code == "levels-disagree" || code == "foreign-reads");
    let [few, many] = [judged(15.0, 65_536.0), judged(2_000.0, 65_536.0)];
    assert!(!spoiled(&few), "{few:?}");
    assert!(spoiled(&many), "{many:?}");
}

#[test]
fn a_counter_that_stood_still_is_unknown_and_never_zero() {
    let made = Made::default();
    let still = [(Counter::DeviceReads.name(), 0.0), (Counter::DeviceReadBytes.name(), 0.0)];
    let analysis = analyze(&made.with(HostSource::Diskstats.name(), &still));
    // The made host has its device counters in another source, which precede these.
    assert_ne!(analysis.summary.steps[0].device_reads_per_s, Some(0.0));
    let mut run = Made { unseen: &[Counter::DeviceReads], ..made }.with(HostSource::Diskstats.name(), &still);
    run.steps[0].series.remove(1);
    let analysis = analyze(&run);
    assert_eq!(kind(&analysis), HeadlineKind::Database);
}

#[test]
fn holes_are_called_holes() {
    let mut run = Made { from_storage: 0.5, ..Made::default() }.run();
    run.description.as_mut().unwrap().files = true;
    assert_eq!(kind(&analyze(&run)), HeadlineKind::PageCache);
    state(&mut run, &[("data.holes_share", "0.5")]);
    let analysis = analyze(&run);
    assert_eq!(kind(&analysis), HeadlineKind::Holes);
    assert!(has(&analysis, "holes") && !has(&analysis, "page-cache"));
    // Holes are read faster than blocks, and so more often.
    state(&mut run, &[("data.holes_share", "0.2")]);
    let few = analyze(&run);
    assert!(has(&few, "holes") && !has(&few, "page-cache"));
    assert_eq!(evidence(&few, "holes"), "20 % of the files are holes; storage did not serve 50 % of the reads");
}

#[test]
fn few_holes_do_not_hide_the_page_cache() {
    let mut run = Made { from_storage: 0.1, ..Made::default() }.run();
    state(&mut run, &[("data.holes_share", "0.06")]);
    let analysis = analyze(&run);
    assert_eq!(kind(&analysis), HeadlineKind::PageCache);
    assert!(headline(&analysis).why.contains("holes"), "{analysis:?}");
    assert!(["holes", "page-cache"].iter().all(|code| codes(&analysis).contains(code)), "{analysis:?}");
    assert!(analysis.steps[0].evidence.page_cache_share.is_some(), "it limits");
}

/// Whether the page cache is reported where each of these slices contains a scan of that length, in seconds.
fn cached_with_scans(from_storage: f64, scan_blocks: u64, scan_s: f64, scans_in: fn(u32, u32) -> bool) -> bool {
    let mut run = Made { from_storage, ..Made::default() }.run();
    run.dataset.as_mut().unwrap().scan_blocks = scan_blocks;
    let step = &mut run.steps[0];
    step.head.workload.as_mut().unwrap().scan_pct = Share::from_hundredths(2_000).unwrap();
    for (_, slice) in step.unmerged.iter_mut().filter(|(session, slice)| scans_in(*session, slice.index)) {
        let scan = slice.op_mut(OpKind::Scan);
        (scan.ops, scan.blocks, scan.latency.sum_ns) = (1, scan_blocks, (scan_s * 1e9) as u64);
        let select = slice.op_mut(OpKind::Select);
        select.latency.sum_ns = (select.latency.sum_ns as f64 * (1.0 - scan_s)) as u64;
    }
    has(&analyze(&run), "page-cache")
}

/// A scan counts its blocks when it ends: of those that begin or end in the window, only a part was fetched in it.
#[test]
fn scans_under_way_are_not_the_page_cache() {
    let judged = |scan_blocks| cached_with_scans(0.9, scan_blocks, 0.9, |_, _| true);
    assert_eq!([judged(16), judged(20_000)], [true, false]);
}

/// Four scans have more blocks than the window.
#[test]
fn scans_that_seldom_run_do_not_hide_the_page_cache() {
    assert!(cached_with_scans(0.1, 131_072, 0.2, |_, _| false));
    assert!(cached_with_scans(0.1, 131_072, 0.2, |session, slice| (session, slice) == (0, 5)));
}

const OWN_READS: f64 = (1_000_000 / 6_400 * 4 * 64) as f64 * BLOCK_BYTES;

/// A run with these chains of devices, and the bytes that each device read and wrote a second.
fn on_chains(chains: &[(&str, &str)], devices: &[(&str, f64, Option<f64>)], own: &[(&str, f64)]) -> Analysis {
    let rates_of = |(device, read, written): &(&str, f64, Option<f64>)| {
        let read = [("reads_completed", 1.0), ("sectors_read", read / 512.0)];
        let written = written.map(|bytes| ("sectors_written", bytes / 512.0));
        let rates = read.into_iter().chain(written);
        rates.map(|(name, rate)| (format!("{device}.{name}"), rate)).collect::<Vec<_>>()
    };
    let of_devices: Vec<_> = devices.iter().flat_map(rates_of).collect();
    let rates = of_devices.iter().map(|(name, rate)| (name.as_str(), *rate)).chain(own.iter().copied());
    let mut run = Made::default().with(HostSource::Diskstats.name(), &rates.collect::<Vec<_>>());
    for (place, chain) in chains {
        let facts = [(format!("{place}.path"), format!("/{place}")), (format!("{place}.device"), (*chain).to_owned())];
        run.environment.extend(facts);
    }
    analyze(&run)
}

/// The data on a loop device, next to others on the disk below it: reads and writes a second of the disk.
fn above_a_disk(read: f64, written: f64) -> Analysis {
    let devices = [("loop3", OWN_READS, Some(0.0)), ("vda", OWN_READS + read, Some(written))];
    on_chains(&[("storage", "loop3 < vda")], &devices, &[])
}

#[test]
fn others_at_the_disk_below_a_loop_device_are_found() {
    let alone = above_a_disk(0.0, 0.0);
    assert!(kind(&alone) == HeadlineKind::Storage && codes(&alone).is_empty(), "{:?}", codes(&alone));
    let reads = above_a_disk(600e6, 0.0);
    assert_eq!(evidence(&reads, "foreign-reads"), "64.7 % of the read bytes of vda");
    assert_eq!(kind(&reads), HeadlineKind::Database);
    let writes = above_a_disk(0.0, 600e6);
    assert!(evidence(&writes, "foreign-writes").starts_with("572.2 MiB/s written at vda, 0.0 MiB/s by the run"));
}

/// The kernel counts writes of the log at the disk, too.
#[test]
fn the_log_next_to_the_data_on_a_disk_is_not_foreign() {
    let log = 100e6;
    let own = [(Counter::DeviceWriteBytes.name(), log), (Counter::ProcessWriteBytes.name(), log)];
    let foreign = |chains: [(&str, &str); 2], [data, log_device, disk]: [&str; 3], written: f64| {
        let devices =
            [(data, OWN_READS, Some(0.0)), (log_device, 0.0, Some(log)), (disk, OWN_READS, Some(log + written))];
        has(&on_chains(&chains, &devices, &own), "foreign-writes")
    };
    let volumes =
        |written| foreign([("storage", "dm-0 < sda"), ("log", "dm-1 < sda")], ["dm-0", "dm-1", "sda"], written);
    assert!(!volumes(0.0) && volumes(600e6));
    let partitions =
        |written| foreign([("storage", "vda1 < vda"), ("log", "vda2 < vda")], ["vda1", "vda2", "vda"], written);
    assert!(!partitions(0.0) && partitions(600e6));
}

#[test]
fn writes_at_a_disk_do_not_hide_reads_at_another() {
    let chains = [("storage", "loop3 < vda"), ("storage2", "loop4 < vdb")];
    let half = OWN_READS / 2.0;
    let devices = [
        ("loop3", half, Some(0.0)),
        ("vda", half, Some(600e6)),
        ("loop4", half, Some(0.0)),
        ("vdb", half + 300e6, Some(0.0)),
    ];
    let both = on_chains(&chains, &devices, &[]);
    assert!(evidence(&both, "foreign-reads").ends_with("of vdb"), "{both:?}");
    assert!(evidence(&both, "foreign-writes").contains("at vda"), "{both:?}");
}

#[test]
fn writes_of_a_device_that_counts_none_are_not_foreign() {
    let devices = [("loop3", OWN_READS, None), ("vda", OWN_READS, Some(600e6))];
    let unknown = on_chains(&[("storage", "loop3 < vda")], &devices, &[]);
    assert!(!has(&unknown, "foreign-writes"), "{unknown:?}");
}

/// Their requests may be large: how many the run made is not their share of bytes.
#[test]
fn large_reads_of_others_do_not_lower_requests() {
    let made = Made { device: 2.5, ..Made::default() };
    let blocks = made.blocks_per_s();
    let analysis = analyze(&made.with("device", &[(Counter::DeviceReads.name(), blocks * 1.05)]));
    let found = codes(&analysis);
    assert!(found.contains(&"foreign-reads") && !found.contains(&"levels-disagree"), "{found:?}");
}

#[test]
fn writes_and_flushes_of_others_are_found() {
    let made = Made::default();
    let beside = |bytes: f64, flushes: f64| {
        let rates = [(Counter::DeviceWriteBytes.name(), bytes), ("vda.flushes_completed", flushes)];
        analyze(&made.with(HostSource::Diskstats.name(), &rates))
    };
    assert!(!has(&beside(200_000.0, 2.0), "foreign-writes"), "a journal writes now and then");
    let heavy = beside(700e6, 0.0);
    assert!(evidence(&heavy, "foreign-writes").starts_with("667.6 MiB/s written at the device, 0.0 MiB/s by the run"));
    assert_eq!(evidence(&beside(0.0, 150.0), "foreign-writes"), "150 flushes/s that the run did not ask for");
    let discards = |ms: f64| {
        let rates = [(Counter::DeviceWriteBytes.name(), 0.0), ("vda.discard_ms", ms)];
        analyze(&made.with(HostSource::Diskstats.name(), &rates))
    };
    assert_eq!(evidence(&discards(363.0), "foreign-writes"), "discards took 363 ms a second");
    assert!(!has(&discards(13.0), "foreign-writes"), "files that were deleted");
    // A run with updates writes, and its file system writes a journal.
    let own = Made { update_pct: "20", latency_us: 400, ..Made::default() };
    let written = own.blocks_per_s() * 0.2 * BLOCK_BYTES;
    let run = own.with("device", &[(Counter::DeviceWriteBytes.name(), written * 1.8)]);
    assert!(!has(&analyze(&run), "foreign-writes"));
}

/// Another database of the server reads as much from storage as the page cache serves to ours.
#[test]
fn reads_of_other_sessions_are_not_taken_for_the_runs() {
    let made = Made::default();
    let physical = made.blocks_per_s() * 1.02 * 0.98;
    let fetching = |own: f64, seen: f64, of_database: bool| {
        let mut run =
            made.with("session_processes", &[(Counter::SessionReadBytes.name(), own * physical * BLOCK_BYTES)]);
        if of_database {
            add(&mut run, "pg_stat_database", &[(Counter::DatabaseReads, physical)]);
        }
        add_gauge(&mut run, "seen", Counter::SessionProcesses, seen);
        analyze(&run)
    };
    for of_database in [true, false] {
        assert_eq!(kind(&fetching(1.0, 4.0, of_database)), HeadlineKind::Storage);
        let unseen = fetching(0.0, 3.0, of_database);
        assert_eq!(kind(&unseen), HeadlineKind::Storage, "of a session that is not seen nothing is said");
    }
    let cached = fetching(0.0, 4.0, true);
    assert_eq!(kind(&cached), HeadlineKind::PageCache);
    assert!(has(&cached, "page-cache") && has(&cached, "others-active"));
    // A server with only total counts cannot show which reads the page cache served.
    let all_counted = fetching(0.0, 4.0, false);
    assert_eq!(kind(&all_counted), HeadlineKind::Database);
    assert_eq!(all_counted.summary.steps[0].page_cache_share, None);
    assert!(has(&all_counted, "others-active"));
}

#[test]
fn a_device_that_its_window_found_quiet_is_not_busy() {
    let mut run = Made::default().run();
    let busy = finding::codes::BUSY_DEVICE.finding("Other processes use the data's device.", "vda: 500 requests/s");
    run.findings.push(busy);
    let quiet = analyze(&run);
    assert!(headline(&quiet).why.contains("device quiet"), "{quiet:?}");
    assert!(!has(&quiet, "busy-device"), "{quiet:?}");
    run.steps[0].series.clear();
    let unseen = analyze(&run);
    assert!(has(&unseen, "busy-device") && kind(&unseen) != HeadlineKind::Storage, "{unseen:?}");
}

/// Every third read comes from the page cache, so the device has a third fewer requests: one finding says so.
#[test]
fn effects_of_the_page_cache_are_reported_once() {
    let made = Made { from_storage: 0.66, ..Made::default() };
    let blocks = made.blocks_per_s();
    let at_device = |share: f64| analyze(&made.with("device", &[(Counter::DeviceReads.name(), blocks * share)]));
    let explained = at_device(0.66);
    assert!(has(&explained, "page-cache") && !has(&explained, "levels-disagree"));
    assert!(evidence(&at_device(0.1), "levels-disagree").contains("reads past the page cache/s"));
}

#[test]
fn ratios_of_a_step_that_was_cut_short_are_not_explained() {
    let mut run = Made { miss: 0.5, ..Made::default() }.run();
    let gaps = |run: &Run| -> Vec<String> {
        let ledger = analyze(run).steps.remove(0).ledger;
        ledger.reads.into_iter().filter(|row| row.ratio.is_some()).filter_map(|row| row.gap).collect()
    };
    assert!(!gaps(&run).is_empty() && gaps(&run).iter().all(|gap| !gap.contains("cut short")));
    run.steps[0].ended = false;
    assert!(!gaps(&run).is_empty() && gaps(&run).iter().all(|gap| gap == "not explained: the run was cut short"));
}

/// Of a run with `requests` to its cache for each visited block.
fn is_reported(made: &Made, requests: f64, expected: Option<CacheRequests>) -> bool {
    let mut run = made.run();
    run.description = Some(Description { cache_requests: expected, ..run.description.take().unwrap_or_default() });
    scale(&mut run, Counter::LogicalReads, requests);
    found(&run, "unasked-reads").is_some()
}

#[test]
fn levels_of_a_tree_are_asked_for_and_reads_of_others_are_not() {
    let reads = Made::default();
    let tree = Some(CacheRequests { visited: 4.0, updated: 24.0, ..CacheRequests::default() });
    assert!(!is_reported(&reads, 1.0, None));
    assert!(is_reported(&reads, 3.0, None), "no engine said that a block costs three requests");
    assert!(!is_reported(&reads, 3.0, tree));
    assert!(is_reported(&reads, 6.0, tree), "two runs on one server ask twice");
}

#[test]
fn few_operations_allow_for_those_under_way() {
    let few = Made { seconds: 2, latency_us: 900_000, ..Made::default() };
    assert!(!is_reported(&few, 1.7, None), "one more by each session at either end of the window");
    assert!(is_reported(&few, 4.0, None));
}

/// Each commit voids the caches of the other sessions, and no counter includes reads of others.
#[test]
fn sessions_that_update_within_mindful_read_blocks_again() {
    let reported = |update_pct, in_process| {
        let mut run = Made { miss: 8.0, update_pct, ..Made::default() }.run();
        run.host.iter_mut().for_each(|host| host.in_process = in_process);
        found(&run, "unasked-reads").is_some()
    };
    assert!(!reported("50", true) && reported("50", false) && reported("0", true));
}
