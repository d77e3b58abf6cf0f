//! Runs with a known truth, and what is said about them.

use crate::judged::{codes, evidence, found, has, headline, kind, limit, near, verdict};
use crate::made::{Made, add, state, workload};
use mindful_analyze::analyze;
use mindful_analyze::judgement::headline::HeadlineKind;
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::contract::metric::{Counter, Phase, ProcessCpu};
use mindful_core::contract::wait::WaitClass;
use mindful_core::contract::watch::{Circumstance, Decides};
use mindful_core::plan::units::Share;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Run, Watched};
use mindful_core::result::{Severity, Validity};
use mindful_core::workload::{LoopSite, OpKind};

#[test]
fn a_clean_run_is_valid_and_its_reads_are_storage_reads() {
    let made = Made::default();
    let analysis = analyze(&made.run());
    assert_eq!(analysis.summary.validity, Validity::Valid, "{:?}", analysis.summary.findings);
    assert_eq!(codes(&analysis), [""; 0]);
    let step = &analysis.summary.steps[0];
    let blocks = made.blocks_per_s();
    near(step.duration_s, 10.0, 1e-3);
    near(step.blocks_visited_per_s, blocks, 1e-3);
    near(step.logical_reads_per_s, blocks * 1.02, 1e-6);
    near(step.physical_reads_per_s, blocks * 1.02 * 0.98, 1e-6);
    near(step.process_reads_per_s, blocks * 1.02 * 0.98, 1e-6);
    near(step.read_latency_mean_us, 90.0, 1e-6);
    near(step.cpu.db_cores, 1.2, 1e-6);
    near(step.hit_ratio, 0.02, 1e-6);
    assert_eq!(step.page_cache_share, Some(0.0));
    let select = step.ops.select.as_ref().unwrap();
    near(select.mean_us, 6_400.0, 0.01);
    near(select.p50_us, 6_400.0, 0.02);
    assert!(step.ops.update.is_none() && step.ops.scan.is_none());
    assert_eq!(kind(&analysis), HeadlineKind::Storage);
}

#[test]
fn invisible_figures_are_null_and_never_zero() {
    let unseen = &[
        Counter::PhysicalReads,
        Counter::ProcessReadBytes,
        Counter::DeviceReads,
        Counter::DeviceReadBytes,
        Counter::ServerCpuUserUs,
        Counter::LogBytes,
    ];
    let analysis = analyze(&Made { unseen, ..Made::default() }.run());
    let step = &analysis.summary.steps[0];
    assert_eq!(step.physical_reads_per_s, None);
    assert_eq!((step.process_reads_per_s, step.device_reads_per_s, step.page_cache_share), (None, None, None));
    assert_eq!((step.hit_ratio, step.read_latency_mean_us, step.cpu.db_cores), (None, None, None));
    assert_eq!(step.log_bytes_per_s, None);
    assert_eq!(kind(&analysis), HeadlineKind::Operations);
}

#[test]
fn a_window_ends_before_a_counter_that_falls() {
    let mut run = Made::default().run();
    let whole = analyze(&run).summary.steps[0].clone();
    run.steps[0].series[0].readings.iter_mut().filter(|r| r.boundary > 6).for_each(|r| r.values[1] = Some(5.0));
    let analysis = analyze(&run);
    assert!(has(&analysis, "counters-reset"), "{:?}", codes(&analysis));
    let step = &analysis.summary.steps[0];
    let (cut, all) = (step.physical_reads_per_s.unwrap(), whole.physical_reads_per_s.unwrap());
    assert!((cut / all - 1.0).abs() < 0.05, "{cut} of {all}");
    assert!(step.duration_s.unwrap() < whole.duration_s.unwrap(), "{step:?}");
}

/// What a watch read before the step and at boundaries of its slices.
fn watched(readings: &[(Option<u32>, &str)]) -> Vec<Watched> {
    let reading = |(boundary, value): &(Option<u32>, &str)| Watched {
        source: "server".to_owned(),
        boundary: *boundary,
        phase: Phase::Boundary,
        at_us: 0,
        values: vec![Circumstance::new("fsync", Some((*value).to_owned()), Decides::Work)],
    };
    readings.iter().map(reading).collect()
}

#[test]
fn figures_describe_the_time_before_a_setting_changed() {
    let made = |readings: &[(Option<u32>, &str)]| {
        let mut run = Made::default().run();
        run.steps[0].watched = watched(readings);
        let analysis = analyze(&run);
        let evidence = evidence(&analysis, "setting-changed");
        (evidence.map(str::to_owned), analysis.summary.steps[0].duration_s.unwrap())
    };
    let (none, whole) = made(&[(None, "on")]);
    assert_eq!(none, None);
    let (changed, cut) = made(&[(None, "on"), (Some(6), "off")]);
    assert!(changed.unwrap().contains("fsync: on became off at"));
    assert!(cut < whole);
    // A change that was undone before the window began does not count.
    let (back, seconds) = made(&[(None, "on"), (Some(0), "off"), (Some(1), "on")]);
    let warmup = Made::default().run().steps[0].head.warmup_slices;
    assert!(back.is_none() == (warmup > 0) && (seconds - whole).abs() < 1.1, "{back:?} {seconds}");
    let (before, seconds) = made(&[(None, "on"), (Some(0), "off")]);
    assert!(before.unwrap().ends_with("before the window") && (seconds - whole).abs() < 0.01);
}

#[test]
fn reads_that_a_cache_served_are_never_called_storage() {
    let [page, all, half] = [
        Made { from_storage: 0.1, ..Made::default() },
        Made { miss: 0.0001, ..Made::default() },
        Made { miss: 0.5, ..Made::default() },
    ]
    .map(|made| analyze(&made.run()));
    assert!(page.summary.validity == Validity::Suspect && has(&page, "page-cache"));
    near(page.summary.steps[0].page_cache_share, 0.9, 1e-6);
    for (analysis, cache, words) in [
        (&page, HeadlineKind::PageCache, "page cache"),
        (&all, HeadlineKind::DatabaseCache, "database cache"),
        (&half, HeadlineKind::Database, "the database's cache served 49 %"),
    ] {
        let headline = headline(analysis);
        assert_eq!(headline.kind, cache);
        assert!(headline.label.contains(words) || headline.why.contains(words), "{headline:?}");
        assert!(!headline.label.contains("storage"), "{headline:?}");
    }
}

#[test]
fn a_second_reader_of_the_device_is_found() {
    let analysis = analyze(&Made { device: 1.5, ..Made::default() }.run());
    assert!(has(&analysis, "foreign-reads"));
    assert_ne!(kind(&analysis), HeadlineKind::Storage);
}

/// As many reads as blocks visited, but several of them in a request: then a part is not the method's.
#[test]
fn requests_of_several_blocks_are_no_storage_iops() {
    let made = Made::default();
    let headline = |blocks_a_request: f64| {
        let mut run = made.run();
        let physical = analyze(&run).summary.steps[0].physical_reads_per_s.unwrap();
        add(&mut run, "requests", &[(Counter::ReadRequests, physical / blocks_a_request)]);
        analyze(&run).steps[0].headline.clone().unwrap()
    };
    assert_eq!(headline(1.0).kind, HeadlineKind::Storage);
    let several = headline(2.18);
    assert_eq!((several.kind, &*several.label), (HeadlineKind::Database, "physical reads per second (database)"));
    assert_eq!(several.why, "2.18 blocks a read request: not all were read one by one");
}

#[test]
fn a_device_that_is_not_seen_is_said_so() {
    let unseen = &[Counter::DeviceReads, Counter::DeviceReadBytes];
    let analysis = analyze(&Made { unseen, ..Made::default() }.run());
    assert_eq!(analysis.summary.steps[0].device_reads_per_s, None);
    assert!(has(&analysis, "not-seen"));
    let headline = headline(&analysis);
    assert!(headline.kind == HeadlineKind::Database && headline.why.contains("device is not seen"), "{headline:?}");
}

/// Its counters are those of storage, except for their base.
#[test]
fn a_loop_device_over_an_invisible_device_is_not_storage() {
    let mut run = Made::default().run();
    assert_eq!(kind(&analyze(&run)), HeadlineKind::Storage);
    let why = "nfs4 at /images is a network file system";
    state(&mut run, &[("storage.device", "loop3"), ("device.loop3.below_not_seen", why)]);
    let headline = analyze(&run).steps[0].headline.clone().unwrap();
    assert_eq!((headline.kind, &*headline.label), (HeadlineKind::Database, "physical reads per second (database)"));
    assert!(headline.why.contains(&format!("nothing is seen below the file of loop3: {why}")), "{}", headline.why);
}

#[test]
fn a_mix_that_was_not_asked_for_is_found() {
    let mixed = Made { update_pct: "20", latency_us: 400, ..Made::default() };
    let mut run = mixed.run();
    let analysis = analyze(&run);
    near(analysis.summary.steps[0].update_pct_realised, 20.0, 0.001);
    assert!(!has(&analysis, "mix"));
    for (_, slice) in &mut run.steps[0].unmerged {
        let moved = slice.op(OpKind::Update).ops / 20;
        slice.op_mut(OpKind::Update).ops -= moved;
        slice.op_mut(OpKind::Select).ops += moved;
    }
    assert!(has(&analyze(&run), "mix"));
}

#[test]
fn the_ledger_names_its_gaps() {
    let ledger =
        analyze(&Made { miss: 0.5, from_storage: 0.8, device: 0.5, ..Made::default() }.run()).steps.remove(0).ledger;
    let gaps: Vec<_> = ledger.reads.iter().filter_map(|row| row.gap.as_deref()).collect();
    assert_eq!(
        gaps,
        [
            "0.02 index and visibility-map reads per block",
            "buffer hits 50 %",
            "page cache 20 %",
            "several blocks in one request"
        ]
    );
}

/// The published sample of the older kit: 42.6 % single-block reads, 32.8 % log buffer space, 17.2 % free buffer waits,
/// 4.5 % CPU of database time.
#[test]
fn sampled_waits_decide_the_verdict() {
    let made = Made { update_pct: "20", latency_us: 400, ..Made::default() };
    let waits = [
        ("cpu/cpu", 4.5),
        ("read/single", 42.6),
        ("log/buffer space", 32.8),
        ("writer/free", 17.2),
        ("idle/client", 500.0),
    ];
    let analysis = analyze(&made.with("waits", &waits));
    assert_eq!(limit(&analysis), Limit::Log);
    assert!(verdict(&analysis).figures.contains("33.8 %"), "{}", verdict(&analysis).figures);
    let shares = &analysis.steps[0].evidence.shares;
    assert_eq!(shares.get(WaitClass::Contention), None, "not counted");
    assert!(shares.get(WaitClass::Writer).is_some_and(|share| share > 0.1));
}

#[test]
fn a_saturated_host_and_a_starved_client_are_distinguished() {
    let busy = analyze(&Made { host_busy: 0.97, server_cores: 7.5, ..Made::default() }.run());
    assert_eq!(limit(&busy), Limit::Cpu);
    assert!(has(&busy, "host-saturated"));
    let client = analyze(&Made { host_busy: 0.97, client_cores: 7.0, ..Made::default() }.run());
    assert_eq!(limit(&client), Limit::Client);
    assert!(has(&client, "client-bound") && client.summary.validity == Validity::Suspect);
}

#[test]
fn cpu_of_others_is_reported_by_name_without_kernel_threads() {
    let beside = |host_busy| {
        let stat = [("irq", 0.0), ("softirq", 1e5), ("kernel_threads_cpu", 2e5)];
        let mut run = Made { host_busy, ..Made::default() }.with("stat", &stat);
        let backup = |pid, cpu_us| ProcessCpu { pid, name: "backup".into(), cpu_us, storage_bytes: None };
        run.steps[0].busiest = (1..=12).map(|boundary| (boundary, vec![backup(7, 2e6), backup(8, 1e6)])).collect();
        analyze(&run)
    };
    let full = beside(0.97);
    assert_eq!((full.summary.validity, codes(&full)[0]), (Validity::Suspect, "foreign-cpu"));
    assert_eq!(full.summary.findings[0].evidence, "6.24 of 8 CPUs, 78 %: backup (2 processes) 3.00");
    assert_eq!(limit(&full), Limit::OthersCpu);
    // Interrupts and the kernel's threads use 0.3 CPUs outside server and client.
    let quiet = beside(0.2);
    assert_eq!((quiet.summary.validity, codes(&quiet)), (Validity::Valid, vec![]));
}

/// Of 8 CPUs the hypervisor took 20 %: with 78 % busy almost none was left.
#[test]
fn a_host_is_full_at_the_cpu_left_by_the_hypervisor() {
    let with = |stolen_us: f64| {
        let stat = [("irq", 0.0), ("softirq", 0.0), ("kernel_threads_cpu", 0.0), ("host_cpu_steal", stolen_us)];
        analyze(&Made { host_busy: 0.78, ..Made::default() }.with("stat", &stat))
    };
    let stolen = with(1.6e6);
    assert_eq!(limit(&stolen), Limit::OthersCpu);
    assert!(has(&stolen, "host-saturated") && has(&stolen, "cpu-steal"));
    let cpu = &stolen.summary.steps[0].cpu;
    near(cpu.host_busy_share, 0.78, 0.001);
    near(cpu.steal_share, 0.2, 0.001);
    let roomy = with(0.0);
    assert_ne!(limit(&roomy), Limit::OthersCpu);
    assert!(!has(&roomy, "host-saturated"));
}

#[test]
fn a_server_side_loop_is_advised_only_where_there_is_one() {
    let advice = |server_side_loop, looping| {
        let mut run = Made { client_cores: 7.0, ..Made::default() }.run();
        run.head.server_side_loop = server_side_loop;
        workload(&mut run).loop_site = looping;
        let analysis = analyze(&run);
        let finding = analysis.summary.findings.iter().find(|finding| finding.code == "client-bound").unwrap();
        let next = &verdict(&analysis).next;
        assert!(next.contains("--work-unit"), "{next}");
        [finding.text.contains("--loop server"), next.contains("--loop server")]
    };
    assert_eq!(advice(Some(true), LoopSite::Client), [true, true]);
    for (known, looping) in [(Some(true), LoopSite::Server), (Some(false), LoopSite::Client), (None, LoopSite::Client)]
    {
        assert_eq!(advice(known, looping), [false, false], "{known:?} {looping:?}");
    }
}

#[test]
fn an_unfinished_run_is_invalid() {
    let bend = |change: fn(&mut Run)| {
        let mut run = Made::default().run();
        change(&mut run);
        let analysis = analyze(&run);
        let worst = analysis.summary.findings[0].clone();
        assert_eq!((analysis.summary.validity, worst.severity), (Validity::Invalid, Severity::Error));
        worst.code
    };
    assert_eq!(bend(|run| run.finished = false), "unfinished");
    assert_eq!(bend(|run| run.interrupted = true), "interrupted");
    assert_eq!(bend(|run| run.error = Some("disk full".into())), "failed");
    assert_eq!(bend(|run| run.steps[0].error = Some("gone".into())), "session-error");
    assert_eq!(bend(|run| run.steps.clear()), "no-step");
    assert_eq!(bend(|run| run.proof.as_mut().unwrap().schemas[0].rank_correlation = 0.9), "layout");
}

#[test]
fn a_plan_not_of_the_method_is_suspect_without_read_latency() {
    let mut run = Made::default().run();
    run.shapes[0].pure = false;
    let analysis = analyze(&run);
    assert_eq!((analysis.summary.validity, codes(&analysis)), (Validity::Suspect, vec!["plan-shape"]));
    assert_eq!(analysis.summary.steps[0].read_latency_mean_us, None);
}

#[test]
fn a_percentile_needs_ten_operations_beyond_it() {
    let few = analyze(&Made { latency_us: 200_000, ..Made::default() }.run());
    let select = few.summary.steps[0].ops.select.clone().unwrap();
    assert_eq!(select.count, 200);
    assert!(select.p95_us.is_some() && select.p99_us.is_none() && select.p999_us.is_none());
    assert!(has(&few, "few-operations"));
    let many = analyze(&Made { latency_us: 1_000, ..Made::default() }.run());
    assert!(many.summary.steps[0].ops.select.clone().unwrap().p999_us.is_some());
}

/// What grew by so much a second next to a clean run, and the one finding about it.
#[test]
fn each_disturbance_is_reported_by_its_code() {
    for (source, name, per_s, code) in [
        ("cgroup", "cpu_throttled_time", 5_000.0, None),
        ("cgroup", "cpu_throttled_time", 200_000.0, Some("cpu-throttled")),
        ("vmstat", "drop_pagecache", 0.0, None),
        ("vmstat", "drop_pagecache", 1.0, Some("page-cache-dropped")),
        ("vmstat", "pswpin", 0.5, None),
        ("vmstat", "pswpin", 50.0, Some("swapped-in")),
        ("vmstat", "oom_kill", 0.0, None),
        ("vmstat", "oom_kill", 1.0, Some("out-of-memory")),
        ("stat", "cpu0_busy", 5e5, None),
        ("stat", "cpu3_busy", 9.9e5, Some("one-cpu-full")),
        ("database", Counter::PhysicalWrites.name(), 5_000.0, Some("writes-without-updates")),
    ] {
        let analysis = analyze(&Made::default().with(source, &[(name, per_s)]));
        assert_eq!(codes(&analysis), Vec::from_iter(code), "{name} {per_s}");
    }
    let full = Made { host_busy: 0.99, ..Made::default() }.with("stat", &[("cpu3_busy", 9.9e5)]);
    assert!(!has(&analyze(&full), "one-cpu-full"), "all are full");
}

#[test]
fn a_whisper_of_others_on_the_device_is_no_finding() {
    let made = Made { from_storage: 0.0, ..Made::default() };
    let run = made.with("others", &[(Counter::DeviceReadBytes, 200_000.0)]);
    assert!(!has(&analyze(&run), "foreign-reads"));
}

#[test]
fn hits_that_the_size_of_the_cache_does_not_allow_are_reported() {
    assert!(!has(&analyze(&Made::default().run()), "unexpected-hits"));
    let half_cached = Made { miss: 0.5, ..Made::default() }.run();
    assert!(has(&analyze(&half_cached), "unexpected-hits"));
    let mut larger = half_cached.clone();
    larger.description.as_mut().unwrap().cache_bytes = Some(512 << 20);
    let analysis = analyze(&larger);
    assert!(!has(&analysis, "unexpected-hits"), "{:?}", analysis.steps[0].residence);
}

/// In the made run each of four schemas has 256 MiB.
#[test]
fn a_cache_of_each_session_is_compared_with_its_schema() {
    let with = |each_session: bool, update: bool| {
        let mut run = Made { miss: 0.5, ..Made::default() }.run();
        let description = run.description.as_mut().unwrap();
        (description.cache_bytes, description.cache_each_session) = (Some(129 << 20), each_session);
        if update {
            workload(&mut run).update_pct = Share::ALL;
        }
        analyze(&run).steps[0].residence.map(|residence| residence.predicted)
    };
    near(with(true, false), 0.5, 0.01);
    near(with(false, false), 0.125, 0.03);
    assert_eq!(with(true, true), None, "commits of one session empty the caches of the others");
}

#[test]
fn a_run_of_the_cache_that_still_reads_is_reported() {
    let with = |miss: f64| {
        let analysis = analyze(&Made { miss, ..Made::default() }.run());
        has(&analysis, "still-reading")
    };
    assert!(with(0.02) && !with(0.0001) && !with(0.98));
    // On bare files few requests for many blocks are large reads.
    let mut files = Made { miss: 0.02, ..Made::default() }.run();
    files.description.as_mut().unwrap().files = true;
    assert!(!has(&analyze(&files), "still-reading"));
}

/// The made run visits 1 GiB.
#[test]
fn a_span_that_caches_below_may_hold_is_reported() {
    let on = |miss: f64, device: Option<u64>| {
        let mut run = Made { miss, ..Made::default() }.run();
        let size = device.map(|gib| ("device.vda.size_bytes".to_owned(), (gib << 30).to_string()));
        run.environment.extend(size);
        found(&run, "small-span").map(|finding| finding.evidence)
    };
    assert_eq!(on(0.98, Some(512)).unwrap(), "1 GiB of the 512 GiB of vda, 0.2 %");
    assert_eq!((on(0.98, Some(50)), on(0.98, None), on(0.0001, Some(512))), (None, None, None));
}

#[test]
fn slow_operations_too_few_for_p99_are_reported() {
    let evidence_of = |slow_us: u64, slow: u64| {
        let mut run = Made::default().run();
        for (_, slice) in &mut run.steps[0].unmerged {
            let mut recorder = Recorder::new();
            (slow..1_000).for_each(|_| recorder.record(100_000));
            (0..slow).for_each(|_| recorder.record(slow_us * 1_000));
            slice.op_mut(OpKind::Select).latency = recorder.drain();
        }
        found(&run, "slow-few").map(|finding| finding.evidence)
    };
    let evidence = evidence_of(50_000, 2).unwrap();
    assert!(evidence.contains("0.2 % of operations") && evidence.contains("50.0 % of the time"), "{evidence}");
    assert_eq!(evidence_of(50_000, 20), None, "p99 knows them");
    assert_eq!(evidence_of(10_000, 1), None, "they took a tenth of the time");
    assert_eq!(evidence_of(700, 9), None, "they are not much slower than the others");
}
