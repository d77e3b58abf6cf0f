//! Caches called storage.

use crate::mindful::quiet::Quiet;
use crate::mindful::report::Report;
use crate::mindful::{Mindful, PAUSES, assert_has, message, printed, short_run};
use mindful_conformance::place;

/// Largest difference between two rows of the ledger that differ only by rounding.
const CLOSED: f64 = 0.01;

fn off(report: &Report, figure: &str, above: &str) -> f64 {
    (report.figure(figure) / report.figure(above) - 1.0).abs()
}

/// Each session of SQLite has a cache of its own for its schema of 4 MiB.
#[cfg(feature = "sqlite")]
#[test]
fn the_share_that_sqlites_caches_will_serve_is_predicted() {
    let mindful = Mindful::beside_others(place());
    let run = |args: &str| {
        // An operation visits no block twice, so its reads serve only later ones: units are small compared with the
        // cache.
        let data = "--target sqlite:data.db --scale 4MiB --sessions 4 --work-unit 8 --think-time 2ms..2ms";
        let report = mindful.short_run((data, args));
        let served = 1.0 - report.figure("physical_reads_per_s") / report.figure("blocks_visited_per_s");
        let evidence = report.evidence("predicted-hits").to_owned();
        let predicted = evidence.split_whitespace().find_map(|word| word.parse::<f64>().ok());
        assert!(!report.has("unexpected-hits"), "{report}");
        (served, predicted.unwrap() / 100.0, evidence)
    };
    for (cache, by_size) in [("1MiB", 0.25), ("2MiB", 0.5), ("8MiB", 1.0)] {
        let (served, predicted, evidence) = run(&format!("--cache {cache}"));
        assert!((predicted - by_size).abs() < 0.01, "{evidence}");
        assert!((served - predicted).abs() < 0.05, "{served} served, {evidence}");
    }
    let (served, predicted, evidence) = run("--cache 8MiB --update-pct 50 --commit-wait off");
    assert!(evidence.contains("or less") && served < predicted * 0.9, "{served} served, {evidence}");
    assert_has(printed(&mindful.run("doctor --target sqlite:data.db --cache 1MiB")), "predicted-hits");
}

/// Root may make control groups; others are refused with a next step, which is tested then.
#[test]
fn a_warm_page_cache_is_reported_and_a_limit_cures_it() {
    let mindful = Mindful::beside_others(place());
    let buffered = ("--scale 64MiB --set debug_io_direct=", PAUSES);
    let loaded = mindful.private("load --target embedded --set debug_io_direct= --schemas 2 --scale 64MiB");
    assert!(loaded.status.success(), "{loaded:?}");
    let warm = mindful.private_run(buffered);
    assert!(warm.figure("page_cache_share") > 0.5, "{warm}");
    warm.assert_suspect("page-cache");
    assert!(warm.has("page-cache-ahead"), "{warm}");
    assert!(warm.headline().contains("page cache") && !warm.headline().contains("storage iops"), "{warm}");
    let with_limit = (buffered, "--page-cache-limit 80MiB");
    if rustix::process::geteuid().is_root() {
        let limited = mindful.private_run(with_limit);
        assert!(limited.figure("page_cache_share") < warm.figure("page_cache_share") / 2.0, "{limited}");
    } else {
        assert_has(message(&mindful.private(short_run(with_limit))), "mindful squeeze");
        mindful_conformance::not_run("only root may make a control group that limits the page cache");
    }
}

/// Data in memory, or freshly written data that fits the page cache, is not read from storage.
#[cfg(feature = "sqlite")]
#[test]
fn reads_from_the_page_cache_alone_are_called_all_of_it() {
    let mindful = Mindful::beside_others(place());
    let in_memory = tempfile::tempdir_in("/dev/shm").unwrap();
    for folder in [mindful.path("."), in_memory.path().to_owned()] {
        let target = format!("sqlite:{}", folder.join("data.db").display());
        let report = mindful.short_run((format!("--target {target} --cache 1MiB --duration 4s"), PAUSES));
        report.assert_suspect("page-cache");
        // A host drops unused pages from its page cache, so a few are read again.
        let all = report.evidence("page-cache") == "all of physical reads";
        assert!(all || folder == mindful.path(".") && report.figure("page_cache_share") > 0.97, "{report}");
        let headline = report.headline();
        let words =
            if all { ["all from the page cache", "the page cache served all of"] } else { ["partly from", "served 9"] };
        assert!(words.iter().all(|words| headline.contains(words)), "{report}");
    }
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    #[test]
    fn a_clean_ledger_closes_and_cached_data_is_not_storage() {
        let mindful = Mindful::at(place()).with_private();
        let _quiet = Quiet::wait();
        // Long enough that a busy machine's delay between two readings is far less than the allowed rounding.
        let clean = mindful.private_run("--set shared_buffers=1MB --duration 5s");
        clean.assert_clean();
        assert!(off(&clean, "process_reads_per_s", "physical_reads_per_s") <= CLOSED, "{clean}");
        if clean.has("foreign-reads") {
            assert!(!clean.headline().contains("storage iops"), "{clean}");
        } else {
            assert!(clean.headline().contains("storage iops"), "{clean}");
            // Up to 5 % of the device's bytes may be others', and 1 % of the database's are not reported.
            assert!(off(&clean, "device_reads_per_s", "process_reads_per_s") <= 0.06, "{clean}");
        }

        let cached = mindful.private_run("--set shared_buffers=64MB --duration 1s");
        assert!(cached.headline().contains("database cache") && !cached.headline().contains("storage"), "{cached}");
        assert!(cached.evidence("predicted-hits").contains("100.0 %"), "{cached}");
        assert!(!cached.has("unexpected-hits"), "{cached}");

        let half = mindful.private_run("--set shared_buffers=16MB --warmup 1s --duration 3s");
        assert!(half.evidence("predicted-hits").contains("50.0 %"), "{half}");
        assert!((0.35..0.65).contains(&half.figure("hit_ratio")), "{half}");
        assert!(!half.has("unexpected-hits"), "{half}");
        assert!(!half.headline().contains("storage") && half.headline().contains("database's cache served"), "{half}");
        assert!(off(&half, "process_reads_per_s", "physical_reads_per_s") <= CLOSED, "{half}");
    }
}
