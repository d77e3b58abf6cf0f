//! Limits of control groups taken for those of the storage, the database or the platform.

use mindful_conformance::place;

use crate::lies::control_group::ControlGroup;
use crate::lies::stalls::all_at_work;
use crate::mindful::report::{Report, device_of, next_to};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, message, short_run, unwrapped};

/// Few blocks, so that even a slow disk has read them before the window: only the CPU is limited.
const CACHED: &str = "--scale 1MiB";

/// If a layer hides the device of the data, the limit of reads is on another device; the run still reports it.
#[test]
fn a_server_held_back_by_its_control_group_is_reported() {
    const READS: u32 = 1_500;
    let mindful = Mindful::beside_others(place());
    let device = device_of(&mindful.path(".")).unwrap_or_else(any_device);
    let Some(reads) = ControlGroup::with_reads(&device, READS) else { return };
    let Some(cpu) = ControlGroup::with_cpu(0.15) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    let free = server.run(&mindful, (CACHED, PAUSES));
    assert!(!free.has("cpu-throttled"), "{free}");
    for limit in ["0.15 of", device.as_str()] {
        assert!(!free.shows("host-setting", limit), "{limit}: {free}");
    }
    cpu.hold(server.pid());
    let held = server.run(&mindful, CACHED);
    held.assert_suspect("cpu-throttled");
    assert!(held.shows("host-setting", "0.15 of"), "{held}");
    assert_held_back(&held);
    let cores = held.run["steps"][0]["cpu"]["db_cores"].as_f64().unwrap();
    assert!((0.0..0.25).contains(&cores), "{cores}: {held}");
    reads.hold(server.pid());
    let held = server.run(&mindful, CACHED);
    let limits = [format!("{device} {READS}"), format!("riops={READS}")];
    assert!(limits.iter().any(|limit| held.shows("host-setting", limit)), "{held}");
}

/// The group is the limit, not the hardware. Of a busy host other effects may come first.
fn assert_held_back(run: &Report) {
    let text = unwrapped(&run.text);
    assert!(!text.contains("more or faster CPUs"), "{run}");
    if run.disturbed() {
        return;
    }
    assert_eq!(run.own_warnings()[0], "cpu-throttled", "{run}");
    assert!(text.contains("limited by CPU: the control group of the server held it back for"), "{run}");
}

/// A limit that has no effect when the run begins, and throttles most of the work from the middle of the window on.
#[test]
fn a_cpu_limit_that_is_set_during_a_run_is_reported() {
    let mindful = Mindful::beside_others(place());
    let Some(cpu) = ControlGroup::with_cpu(64.0) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    cpu.hold(server.pid());
    let free = server.run(&mindful, CACHED);
    assert!(!free.has("cpu-throttled"), "{free}");
    for limit in ["cpu.max", "cfs_quota"] {
        assert!(!free.shows("host-setting", limit), "{free}");
    }
    let limit = || {
        server.sql(&all_at_work(2, 2.0));
        cpu.allow_cpu(0.15);
    };
    let held = next_to(limit, || server.run(&mindful, (CACHED, "--duration 6s")));
    held.assert_suspect_of("setting-changed", " 0.15 CPUs");
    assert!(!held.has("cpu-throttled"), "the window holds a part of both: {held}");
}

#[test]
fn a_cache_beyond_the_limit_of_a_group_above_is_refused() {
    let mindful = Mindful::at(place());
    let Some((_above, below)) = ControlGroup::with_memory(1 << 30) else { return };
    let held = below.output(&mindful, "run --cache 900MiB --data-dir held");
    let refusal = message(&held);
    assert_eq!(held.status.code(), Some(2), "{refusal}");
    assert!(refusal.contains("three quarters of the memory, 1 GiB"), "{refusal}");
}

#[test]
fn a_client_without_cpu_is_called_the_limit() {
    let mindful = Mindful::beside_others(place());
    let Some(group) = ControlGroup::with_cpu(0.15) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    let small = format!("--target {} --loop client --work-unit 1 --sessions 4 {CACHED}", server.url());
    let free = mindful.short_run(&small);
    assert!(!free.has("client-bound") || free.disturbed(), "{free}");
    let starved = mindful.report(&group.output(&mindful, short_run(&small)));
    starved.assert_suspect("client-bound");
    // If others leave it even less, they come first.
    let limited = starved.text.contains("limited by the client");
    let of_host = ["limited by CPU that others", "limited by a stall"];
    let of_host = of_host.iter().any(|limit| starved.text.contains(limit));
    assert!(limited || starved.has("foreign-cpu") && of_host, "{starved}");
}

fn any_device() -> String {
    let devices = std::fs::read_dir("/sys/block").unwrap().flatten();
    let mut numbers = devices.filter_map(|device| std::fs::read_to_string(device.path().join("dev")).ok());
    numbers.next().unwrap().trim().to_owned()
}
