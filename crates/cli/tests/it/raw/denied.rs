//! A process that may not use io_uring, as in a container whose seccomp profile leaves it out.

use std::process::Output;

use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde_json::Value;

use crate::mindful::host_was_full;
use crate::raw::place::{Place, SHORT, refused, steps};

/// `mindful` as a child of a thread whose filter lets `io_uring_setup` fail: it inherits the filter, nobody else does.
fn denied(place: &Place, args: &[&str]) -> Output {
    std::thread::scope(|scope| {
        let filtered = scope.spawn(|| {
            let rules = [(libc::SYS_io_uring_setup, Vec::new())].into();
            let eperm = SeccompAction::Errno(libc::EPERM as u32);
            let arch = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(rules, SeccompAction::Allow, eperm, arch).unwrap();
            seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            place.mindful(args)
        });
        filtered.join().unwrap()
    })
}

fn summary(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

#[test]
fn blocks_are_read_by_pread_and_one_line_says_so() {
    let place = Place::new();
    let path = place.made();
    let url = format!("raw:{path}");
    let run = ["run", "--target", &url, "--sessions", "1", "--work-unit", "1"];
    for verb in [&["raw", &path][..], &run] {
        let output = denied(&place, &[verb, &["--iodepth", "4", "--format", "json"], &SHORT].concat());
        let summary = summary(&output);
        let step = &steps(&summary)[0];
        assert!(step["ops"]["select"]["count"].as_u64().unwrap() > 0, "{step:#}");
        assert_eq!(step["iodepth"], 1, "what was kept in flight, not what was asked for");
        let findings = summary["findings"].as_array().unwrap();
        let reported: Vec<_> = findings.iter().filter(|finding| finding["code"] == "no-io-uring").collect();
        let [reported] = reported[..] else { panic!("reported once: {findings:#?}") };
        let text = reported["text"].as_str().unwrap();
        assert!(text.contains("pread") && text.contains("not at the iodepth asked for"), "{text}");
        assert!(reported["evidence"].as_str().unwrap().contains("not permitted"), "{reported}");
        // On a busy host a session waits for a CPU between its operations.
        assert!(host_was_full(step) || !findings.iter().any(|finding| finding["code"] == "little"), "{findings:#?}");
        let shown = place.shown();
        assert!(shown.contains("one at a time"), "{shown}");
        assert!(host_was_full(step) || !shown.contains("limited by the client"), "{shown}");
        let next = shown.lines().find(|line| line.trim_start().starts_with("next:")).unwrap();
        assert!(!next.contains("--iodepth"), "advice that cannot be followed: {next}");
    }
}

#[test]
fn what_needs_several_ios_in_flight_is_refused_in_one_line() {
    let place = Place::new();
    let path = place.made();
    for args in [
        &["--preset", "oltp", "--num-small", "2"][..],
        &["--preset", "dss"],
        &["--preset", "calibrate"],
        &["--spans", "outer,inner", "--iodepth", "2"],
        &["--large-iodepth", "1"],
    ] {
        let (code, line) = refused(&denied(&place, &[&["raw", &path][..], args].concat()));
        assert!(code == 3 && line.contains("may not use io_uring"), "{args:?}: {code} {line}");
        assert!(line.contains("--io psync"), "{args:?}: {line}");
        // Where the host denies it itself, that comes first.
        let host = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled").is_ok_and(|value| value.trim() != "0");
        let way = if host { "kernel.io_uring_disabled=0" } else { "--security-opt seccomp=unconfined" };
        assert!(line.contains(way), "{args:?}: {line}");
    }
    assert_eq!(place.runs(), 0, "what was refused left no run");
}

#[test]
fn one_io_at_a_time_needs_no_io_uring() {
    let place = Place::new();
    let path = place.made();
    let short = [&["raw", &path, "--format", "json"][..], &SHORT].concat();
    let psync = summary(&denied(&place, &[&short[..], &["--io", "psync"]].concat()));
    assert!(!psync["findings"].to_string().contains("no-io-uring"), "nobody asked for it: {psync:#}");
    let spans = summary(&denied(&place, &[&short[..], &["--spans", "outer,inner"]].concat()));
    assert_eq!(steps(&spans).len(), 2, "{spans:#}");
}
