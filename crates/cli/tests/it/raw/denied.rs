//! A process that may not use io_uring, as in a container with a seccomp profile without it.

use std::process::Output;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::mindful::{Mindful, Words, assert_has, codes, figure, findings, host_was_full, json, refused_with, steps};
use crate::raw::place::{SHORT, with_blocks};

/// `mindful` as a child of a thread with a filter that lets `io_uring_setup` fail: only this child inherits the filter.
fn denied(mindful: &Mindful, args: impl Words) -> Output {
    let args = args.words();
    std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            let rules = [(libc::SYS_io_uring_setup, Vec::new())].into();
            let eperm = SeccompAction::Errno(libc::EPERM as u32);
            let arch = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, eperm, arch).unwrap();
            seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            mindful.run(args)
        });
        filtered.join().unwrap()
    })
}

#[test]
fn blocks_are_read_by_pread_and_one_line_says_so() {
    let mindful = with_blocks();
    for verb in ["raw blocks", "run --target raw:blocks --sessions 1 --work-unit 1"] {
        let summary = json(&denied(&mindful, (verb, "--iodepth 4 --format json", SHORT)));
        let step = &steps(&summary)[0];
        assert!(figure(&step["ops"]["select"], "count") > 0.0, "{step:#}");
        assert_eq!(step["iodepth"], 1, "what was kept in flight, not what was asked for");
        let [finding] = findings(&summary, "no-io-uring")[..] else { panic!("one finding: {summary:#}") };
        assert_has(finding["text"].as_str().unwrap(), "pread…not at the requested iodepth");
        assert_has(finding["evidence"].as_str().unwrap(), "not permitted");
        // On a busy host a session waits for a CPU between its operations.
        assert!(host_was_full(step) || !codes(&summary).contains(&"little"), "{summary:#}");
        let shown = mindful.text("show --full");
        assert_has(&shown, "one at a time");
        assert!(host_was_full(step) || !shown.contains("limited by the client"), "{shown}");
        let next = shown.lines().find(|line| line.trim_start().starts_with("next:")).unwrap();
        assert!(!next.contains("--iodepth"), "advice that cannot be followed: {next}");
    }
}

#[test]
fn jobs_that_need_several_ios_in_flight_are_refused() {
    let mindful = with_blocks();
    for args in [
        "--preset oltp --num-small 2",
        "--preset dss",
        "--preset calibrate",
        "--spans outer,inner --iodepth 2",
        "--large-iodepth 1",
    ] {
        // If the host itself denies it, that comes first.
        let host = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|value| value.trim() != "0");
        let way = if host { "kernel.io_uring_disabled=0" } else { "--security-opt seccomp=unconfined" };
        let line = refused_with(3, &denied(&mindful, ("raw blocks", args)));
        assert_has(line, format!("may not use io_uring…--io psync…{way}"));
    }
    assert_eq!(mindful.count_runs(), 0, "what was refused left no run");
}

#[test]
fn one_io_at_a_time_needs_no_io_uring() {
    let mindful = with_blocks();
    let short = ("raw blocks --format json", SHORT);
    let psync = json(&denied(&mindful, (&short, "--io psync")));
    assert!(!psync["findings"].to_string().contains("no-io-uring"), "it was not requested: {psync:#}");
    let spans = json(&denied(&mindful, (&short, "--spans outer,inner")));
    assert_eq!(steps(&spans).len(), 2, "{spans:#}");
}
