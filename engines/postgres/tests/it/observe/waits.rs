//! Wait events of real sessions on real servers: their waits are found in their class, at a bounded cost.

use mindful_conformance::work_side_by_side;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::{PATIENCE, Server, load, programs, readings, workload};
use mindful_core::Target;
use mindful_core::contract::metric::{Sampler, Scope};
use mindful_core::workload::Workload;

/// Long enough for samples as dense as these.
const SPAN_US: i64 = 1_000_000;
const MOST_SPANS: u32 = 10;
const FEWEST_SAMPLES: f64 = 10.0;
const DENSE: [(&str, &str); 1] = [("wait_sampling", "20ms")];

fn sampler(target: &dyn Target, name: &str) -> Option<Box<dyn Sampler>> {
    target.samplers().unwrap().into_iter().find(|sampler| sampler.name() == name)
}

/// Samples by class while `sessions` sessions work: a second, or more on a full host.
fn classes(target: &dyn Target, work: &Workload, sessions: u32) -> BTreeMap<String, f64> {
    let mut waits = [sampler(target, "waits").unwrap()];
    let before = readings(&mut waits);
    let mut found = BTreeMap::new();
    for _ in 0..MOST_SPANS {
        for report in work_side_by_side(target, work, sessions, SPAN_US) {
            report.unwrap();
        }
        found.clear();
        for (name, after) in readings(&mut waits) {
            *found.entry(name.split('/').next().unwrap().to_owned()).or_insert(0.0) += after - before[&name];
        }
        if busy(&found) >= FEWEST_SAMPLES {
            break;
        }
    }
    found
}

/// Version 18 reports its reads under way; an older one, or one that hides them from this role, does not.
#[test]
fn reads_under_way_are_reported_where_the_server_shows_them() {
    for bin in programs() {
        let server =
            Server::start(&bin, &["shared_buffers=1MB", "io_method=worker"][..if is_18(&bin) { 2 } else { 1 }]);
        let target = server.target(&DENSE).unwrap();
        let reads = sampler(&*target, "pg_aios");
        assert_eq!(reads.is_some(), is_18(&bin), "{}", bin.display());
        let Some(mut reads) = reads else { continue };
        load(&*target, 1, 4_000).unwrap();
        for report in work_side_by_side(&*target, &workload(1, 4_000, 64, "0"), 4, SPAN_US) {
            report.unwrap();
        }
        let reads_us: Vec<f64> = reads.read().unwrap().into_iter().map(Option::unwrap).collect();
        // Four sessions read one block at a time.
        assert!(
            (2.0..=40.0).contains(&reads_us[1]) && reads_us[0] > 0.0 && reads_us[0] <= 4.0 * reads_us[1],
            "{reads_us:?}"
        );
        server.sql("CREATE ROLE plain LOGIN; GRANT ALL ON DATABASE postgres TO plain");
        let plain = server.target_as("plain", "postgres", &[("namespace", "other")]).unwrap();
        assert!(sampler(&*plain, "pg_aios").is_none(), "a role that may not read the view");
    }
}

fn is_18(bin: &std::path::Path) -> bool {
    let version = std::process::Command::new(bin.join("postgres")).arg("--version").output().unwrap();
    String::from_utf8(version.stdout).unwrap().contains(" 18")
}

fn busy(classes: &BTreeMap<String, f64>) -> f64 {
    classes.iter().filter(|(class, _)| *class != "idle").map(|(_, samples)| samples).sum()
}

fn share(classes: &BTreeMap<String, f64>, class: &str) -> f64 {
    assert!(busy(classes) >= FEWEST_SAMPLES, "too few samples: {classes:?}");
    classes.get(class).copied().unwrap_or(0.0) / busy(classes)
}

#[test]
fn waits_are_found_in_the_class_of_their_work() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.loaded_with(&DENSE, 1, 1_000);
        let found = classes(&*target, &workload(1, 1_000, 8, "0"), 2);
        assert!(share(&found, "cpu") > 0.8, "cached reads wait for nothing: {found:?}");
        let found = classes(&*target, &workload(1, 8, 8, "100"), 6);
        assert!(share(&found, "contention") > 0.15, "updates of the same few rows wait for each other: {found:?}");
        let server = Server::start_on_disk(&bin, &[]);
        let target = server.loaded_with(&DENSE, 2, 1_000);
        let found = classes(&*target, &workload(2, 1_000, 1, "100"), 2);
        let [log, contention] = ["log", "contention"].map(|class| share(&found, class));
        assert!(log > contention && log > 0.1, "commits wait for the log: {found:?}");
    }
}

/// Of strangers only those who work are counted. Without sessions of ours, the server's other clients are sampled.
#[test]
fn strangers_are_sampled_only_if_none_of_ours_is() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.target(&[]).unwrap();
        let [mut ours, mut all] =
            [target.samplers(), target.samplers_for_all_clients(Scope::Database)].map(Result::unwrap);
        let before = [&mut ours, &mut all].map(|samplers| readings(samplers));
        server.sql("SELECT count(*) FROM generate_series(1, 5000000)");
        let after = [&mut ours, &mut all].map(|samplers| readings(samplers));
        let grown = |of: usize, class: &str| -> f64 {
            let of_class = after[of].iter().filter(|(name, _)| name.starts_with(class));
            of_class.map(|(name, after)| after - before[of][name]).sum()
        };
        for class in ["cpu/", "read/", "log/", "writer/", "contention/", "other/"] {
            assert!(grown(0, class) == 0.0, "{class} grew: {before:?} {after:?}");
        }
        assert!(grown(1, "cpu/") >= 1.0, "{after:?}");
    }
}

#[test]
fn sampling_reports_its_cost_and_can_be_turned_off() {
    for bin in programs() {
        let server = Server::start(&bin, &[]);
        let target = server.target(&[("wait_sampling", "10ms")]).unwrap();
        let mut cost = [sampler(&*target, "wait_sampling").unwrap()];
        let until = Instant::now() + PATIENCE;
        let mut values = readings(&mut cost);
        while values["samplings"] < 3.0 {
            assert!(Instant::now() < until, "{values:?}");
            std::thread::sleep(Duration::from_millis(50));
            values = readings(&mut cost);
        }
        assert!(values["sampling_interval"] >= 10_000.0 && values["monitor_cpu"] > 0.0, "{values:?}");
        drop(cost);
        let silent = server.target(&[("wait_sampling", "off")]).unwrap();
        assert!(sampler(&*silent, "waits").is_none());
        assert!(server.target(&[("wait_sampling", "1us")]).is_err());
    }
}

#[test]
fn a_server_that_goes_away_ends_the_samples_with_an_error() {
    let server = Server::start(&programs()[0], &[]);
    let target = server.target(&[]).unwrap();
    let mut waits = sampler(&*target, "waits").unwrap();
    waits.read().unwrap();
    server.sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'mindful waits'");
    // The next sample shows it; on a busy host it may be late.
    let until = Instant::now() + PATIENCE;
    while waits.read().is_ok() {
        assert!(Instant::now() < until, "samples continue without a server");
        std::thread::sleep(Duration::from_millis(100));
    }
}
