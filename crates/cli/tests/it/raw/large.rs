//! Large reads: their headline, and the page cache's share by bytes.

use serde_json::Value;

use crate::mindful::{Mindful, Words, codes, figure, json, steps};
use crate::raw::place::{undisturbed, with_blocks};

/// Long enough that the kernel's and the sessions' counts cover the same time on a busy machine too.
const WINDOW: &str = "--duration 2s --warmup 500ms";
const SIZE: (&str, f64) = ("256KiB", 0.25);

fn near(a: f64, b: f64, what: &str) {
    assert!((a / b - 1.0).abs() < 0.02, "{what}: {a} and {b}");
}

fn found(summary: &Value, code: &str) -> bool {
    codes(summary).contains(&code)
}

/// One step on a new file, by `verb`: `check` gets its summary, and the figure and the words of its headline.
fn measured(mindful: &Mindful, verb: impl Words, check: impl Fn(&Value, f64, &str)) {
    let args = (verb, format!("--format json --large-size {}", SIZE.0), WINDOW);
    let measure = || json(&mindful.run(&args));
    undisturbed(measure, |summary| {
        let shown = mindful.text("show --full");
        // The verdict is the first paragraph, the headline begins the second.
        let line = shown.split("\n\n").nth(1).and_then(|paragraph| paragraph.lines().next()).unwrap().trim();
        let (figure, words) = line.split_once(' ').unwrap();
        check(summary, figure.replace(',', "").parse().unwrap(), words);
    });
}

/// Whether the reads may not be called storage reads: others read, or a level of the ledger is unknown.
fn doubted(summary: &Value) -> bool {
    let step = &steps(summary)[0];
    let unknown =
        ["process_reads_per_s", "device_reads_per_s", "page_cache_share"].iter().any(|name| step[name].is_null());
    found(summary, "foreign-reads") || unknown
}

#[test]
fn large_direct_reads_are_in_mib_and_of_no_cache() {
    let mindful = with_blocks();
    for verb in ["raw blocks", "run --target raw:blocks --sessions 1 --work-unit 1"] {
        measured(&mindful, (verb, "--iodepth 0 --large-iodepth 2"), |summary, mib, words| {
            let step = &steps(summary)[0];
            let large = &step["ops"]["scan"];
            near(mib, figure(large, "per_s") * SIZE.1, "the headline and the large reads");
            let read = figure(step, "physical_reads_per_s");
            near(read, figure(step, "blocks_visited_per_s"), "blocks read and visited");
            assert!(figure(step, "page_cache_share") < 0.05, "{step:#}");
            assert_eq!((step["iodepth"].as_u64(), step["block_bytes"].as_u64()), (Some(2), Some(262_144)));
            assert_eq!(step["ops"]["select"], Value::Null);
            assert_eq!(step["cpu"]["iops_per_core"], Value::Null);
            let wanted = if doubted(summary) { "MiB/s of physical reads (files)" } else { "storage MiB/s (reads)" };
            assert_eq!(words, wanted, "{summary:#}");
            for code in ["page-cache", "plan-shape", "prefetched", "unasked-reads", "still-reading", "little"] {
                assert!(!found(summary, code), "{code}: {summary:#}");
            }
            let shown = mindful.text("show --full");
            assert!(!shown.contains("edge of the window") && !shown.contains("whether scans"), "{shown}");
            assert!(shown.contains("large read of 256 KiB, direct") && !shown.contains("select plan"), "{shown}");
        });
    }
}

#[test]
fn large_reads_of_a_warm_file_are_the_page_caches() {
    let mindful = with_blocks();
    std::fs::read(mindful.path("blocks")).unwrap();
    measured(&mindful, "raw blocks --iodepth 0 --large-iodepth 2 --direct off", |summary, mib, words| {
        let step = &steps(summary)[0];
        near(mib, figure(&step["ops"]["scan"], "per_s") * SIZE.1, "the headline and the large reads");
        assert!(figure(step, "page_cache_share") > 0.95, "{step:#}");
        let part = if figure(step, "page_cache_share") > 0.999 { "all" } else { "partly" };
        assert_eq!(words, format!("MiB/s of file reads, {part} from the page cache"));
        assert!(found(summary, "page-cache") && !found(summary, "plan-shape"), "{summary:#}");
    });
}

#[test]
fn small_and_large_reads_of_one_step_are_weighed_together() {
    let mindful = with_blocks();
    measured(&mindful, "raw blocks --iodepth 2 --large-iodepth 1", |summary, mib, words| {
        let step = &steps(summary)[0];
        let (small, large) = (figure(&step["ops"]["select"], "per_s"), figure(&step["ops"]["scan"], "per_s"));
        near(mib, small / 128.0 + large * SIZE.1, "the headline and all reads");
        assert!(words.contains("MiB/s"), "{words}");
        near(figure(step, "physical_reads_per_s"), figure(step, "blocks_visited_per_s"), "blocks read and visited");
        assert!(figure(step, "page_cache_share") < 0.05, "{step:#}");
        assert!(!found(summary, "prefetched") && !found(summary, "little"), "{summary:#}");
    });
}

#[test]
fn each_point_of_a_job_is_judged_by_its_bytes() {
    let mindful = with_blocks();
    std::fs::read(mindful.path("blocks")).unwrap();
    let job = format!("--preset simple --num-small 1 --num-large 1 --large-size {}", SIZE.0);
    // Reads from memory use a CPU, and a short window shows them as well.
    for (direct, window, cached) in [("on", WINDOW, 0.0..0.05), ("off", "--duration 1s --warmup 200ms", 0.95..1.01)] {
        let args = (format!("raw blocks --format json --direct {direct}"), &job, window);
        let measure = || json(&mindful.run(&args));
        undisturbed(measure, |summary| {
            for step in steps(summary) {
                assert!(cached.contains(&figure(step, "page_cache_share")), "{step:#}");
            }
            assert_eq!(found(summary, "page-cache"), direct == "off", "{summary:#}");
            assert!(!found(summary, "prefetched"), "{summary:#}");
        });
    }
}
