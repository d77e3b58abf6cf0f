//! The CPU cost of a read, and of observing it, in runs with a known truth.

use crate::judged::found;
use crate::made::{Made, state};
use mindful_analyze::analyze;
use mindful_analyze::figures::cpu::CACHED_FACT;
use mindful_core::record::run::Run;
use mindful_core::result::CpuSummary;

fn cpu(run: &Run) -> CpuSummary {
    analyze(run).summary.steps[0].cpu.clone()
}

/// A run with the known CPU of a logical read in a cached run.
fn after_cached(made: &Made, us: f64) -> Run {
    let mut run = made.run();
    state(&mut run, &[(CACHED_FACT, &us.to_string())]);
    run
}

#[test]
fn a_physical_read_costs_what_its_logical_read_does_not() {
    let made = Made { miss: 0.5, ..Made::default() };
    let gross = cpu(&made.run());
    assert_eq!(gross.db_us_per_physical_read_marginal, None, "without a cached run it is not known");
    // A third of the CPU of a logical read would have been spent without any physical one.
    let cached = gross.db_us_per_logical_read.unwrap() / 3.0;
    let marginal = cpu(&after_cached(&made, cached)).db_us_per_physical_read_marginal.unwrap();
    assert!((marginal / (cached * 2.0 / 0.5) - 1.0).abs() < 0.01, "{marginal} us");
    assert!(marginal < gross.db_us_per_physical_read.unwrap());
}

#[test]
fn the_marginal_cost_is_left_out_where_commits_decide_it() {
    let updating = Made { miss: 0.5, update_pct: "20", ..Made::default() };
    let cached = Made { miss: 0.01, ..Made::default() };
    let cheaper = Made { miss: 0.5, ..Made::default() };
    for (made, us) in [(updating, 0.1), (cached, 0.1), (cheaper, 1e6)] {
        assert_eq!(cpu(&after_cached(&made, us)).db_us_per_physical_read_marginal, None);
    }
}

#[test]
fn iops_per_core_and_cores_for_many_are_two_sides_of_one_figure() {
    let cpu = cpu(&Made::default().run());
    let (rate, cores) = (cpu.iops_per_core.unwrap(), cpu.cores_per_100k_iops.unwrap());
    assert!((rate * cores / 1e5 - 1.0).abs() < 1e-9, "{rate} {cores}");
    assert!((cpu.db_us_per_physical_read.unwrap() * rate / 1e6 - 1.0).abs() < 1e-9);
}

#[test]
fn sampling_waits_is_a_finding_above_one_percent() {
    let made = Made { server_cores: 1.0, ..Made::default() };
    let found = |run: &Run| found(run, "wait-sampling-cost").is_some();
    let [cheap, dear] = [5_000.0, 20_000.0].map(|us_per_s| made.with("made", &[("monitor_cpu", us_per_s)]));
    assert!((cpu(&cheap).wait_sampling_share.unwrap() / 0.005 - 1.0).abs() < 0.01);
    assert!(!found(&cheap) && found(&dear));
    assert_eq!(cpu(&Made::default().run()).wait_sampling_share, None);
}

#[test]
fn the_cpus_of_another_host_are_not_the_clients() {
    // Seven of the eight CPUs of the host: too much for a client that shares it with the server.
    let mut run = Made { client_cores: 7.0, ..Made::default() }.run();
    let bound = |run: &Run| found(run, "client-bound").is_some();
    assert!(bound(&run));
    state(&mut run, &[("client.cpus_allowed", "64")]);
    assert!(bound(&run));
    run.host.as_mut().unwrap().local = false;
    assert!(!bound(&run));
    // The load of that host is still known.
    let busy = analyze(&run).summary.steps[0].cpu.host_busy_share.unwrap();
    assert!((busy - 0.25).abs() < 0.01, "{busy}");
}

#[test]
fn cpu_of_a_host_known_only_to_the_server_limits_too() {
    let of = |host_busy: f64| {
        let mut run = Made { host_busy, ..Made::default() }.run();
        let host = run.steps[0].series.iter_mut().find(|series| series.source == "host").unwrap();
        // A remote server: its own view has its CPU, and its device is invisible.
        "v$osstat".clone_into(&mut host.source);
        for metric in host.metrics.iter_mut().filter(|metric| !metric.name.starts_with("host_cpu")) {
            metric.name.insert_str(0, "not_");
        }
        let step = analyze(&run).summary.steps[0].clone();
        (step.limited_by, step.cpu.host_busy_share)
    };
    assert_eq!(of(0.97), (Some("CPU".to_owned()), Some(0.97)));
    assert_ne!(of(0.3).0.as_deref(), Some("CPU"));
}
