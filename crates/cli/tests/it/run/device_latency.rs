//! Single requests timed at the device, compared with the reads that caused them.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use mindful_conformance::{not_run, with_tracefs, without_tracefs};
use serde_json::Value;
use tempfile::TempDir;

use crate::mindful::{Mindful, figure, findings, json, kill};

/// A file with blocks, on a file system with O_DIRECT and a device below, which /tmp may lack.
struct Place(Mindful);

impl Place {
    fn new(start: fn(TempDir) -> Mindful) -> Self {
        let mindful = start(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
        mindful.succeed("load --target raw:blocks --schemas 1 --scale 64MiB");
        Self(mindful)
    }

    fn start(&self, args: &str) -> Child {
        self.0.start_piped(("run --target raw:blocks --schemas 1", args))
    }

    /// One session that has one read under way at a time.
    fn measured(&self, duration: &str) -> Value {
        let args = "--schemas 1 --sessions 1 --work-unit 1 --io psync --warmup 2s";
        self.0.json(format!("run --target raw:blocks {args} --duration {duration}"))
    }
}

fn lacks(summary: &Value, source: &str) -> bool {
    let begins = |finding: &&Value| finding["evidence"].as_str().unwrap().starts_with(&format!("{source}: "));
    findings(summary, "not-seen").iter().any(begins)
}

/// Whether the device below the build's files is visible; if not, as in a container, prints a notice.
fn device_seen(summary: &Value) -> bool {
    let unseen = lacks(summary, "device");
    if unseen {
        not_run("the build folder lies on no device that is seen");
    }
    !unseen
}

fn instances(pid: u32) -> Vec<PathBuf> {
    let Ok(entries) = Path::new("/sys/kernel/tracing/instances").read_dir() else { return Vec::new() };
    let ours = entries.map(|entry| entry.unwrap().path());
    ours.filter(|path| path.to_string_lossy().contains(&format!("/mindful-{pid}-"))).collect()
}

#[test]
fn without_tracefs_the_latency_at_the_device_is_unknown() {
    if !without_tracefs() {
        return;
    }
    let summary = Place::new(Mindful::beside_others).measured("1s");
    if device_seen(&summary) {
        assert!(lacks(&summary, "device latency"), "{summary:#}");
        let device = &summary["steps"][0]["device"];
        assert!(device.as_object().unwrap().values().all(Value::is_null), "unknown is null: {device}");
    }
}

#[test]
fn a_trace_instance_that_a_killed_run_left_goes_with_the_next() {
    if !with_tracefs() {
        return;
    }
    let place = Place::new(Mindful::beside_others);
    let mut child = place.start("--duration 60s -q");
    let (pid, deadline) = (child.id(), Instant::now() + Duration::from_mins(1));
    while instances(pid).is_empty() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = !instances(pid).is_empty();
    kill(&mut child);
    let summary = place.measured("1s");
    if !device_seen(&summary) {
        return;
    }
    assert!(seen, "requests are timed, but there was no instance: {summary}");
    assert_eq!(instances(pid), Vec::<PathBuf>::new());
}

#[test]
fn without_the_trace_only_request_times_are_missing() {
    if !with_tracefs() {
        return;
    }
    let place = Place::new(Mindful::beside_others);
    let child = place.start("--duration 2s --warmup 1s --format json --device-trace off");
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(instances(child.id()), Vec::<PathBuf>::new());
    let summary = json(&child.wait_with_output().unwrap());
    let step = &summary["steps"][0];
    assert!(step["device"].as_object().unwrap().values().all(Value::is_null), "{step:#}");
    assert!(!lacks(&summary, "device latency"), "it was asked for: {summary:#}");
    assert_eq!(step["device_reads_per_s"].is_null(), lacks(&summary, "device"), "the counters are read: {summary:#}");
    place.0.refusal("run --target raw:blocks --device-trace sometimes");
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    #[test]
    fn the_latency_at_the_device_is_most_of_that_of_a_lone_read() {
        if !with_tracefs() {
            return;
        }
        let place = Place::new(Mindful::alone);
        let summary = place.measured("4s");
        if !device_seen(&summary) {
            return;
        }
        let step = &summary["steps"][0];
        let (device, read) = (&step["device"], figure(&step["ops"]["select"], "p50_us"));
        let (own, all) = (figure(step, "blocks_visited_per_s"), figure(step, "device_reads_per_s"));
        let p50 = figure(device, "read_p50_us");
        // The medians are those of a sample and of all; reads of others take their own time.
        let is_alone = all < own * 1.02;
        assert!(!is_alone || p50 < read * 1.1 && p50 > read / 3.0, "{p50} us at the device, {read} us for the reader");
        let timed = figure(device, "reads_timed") * figure(device, "one_of") / figure(step, "duration_s");
        // Reads of 128 KiB by others begin at even addresses, so up to 16 times as many of them are chosen.
        let most = own + (all - own).max(0.0) * 16.0;
        assert!(timed > own * 0.7 && timed < most * 1.3, "{timed} of {own} own reads/s and {all} in all: {device}");
        assert_eq!(place.0.json("show")["steps"][0]["device"], *device);
    }
}
