//! The null engine's settings are what is measured.

use mindful_conformance::Fixture;
use mindful_core::ErrorKind;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceReport};
use mindful_core::workload::{OpKind, Rate, Workload};

fn null(latency: &str) -> Fixture {
    Fixture::new(&mindful_null::ENGINE, "null:").with("null_latency", latency)
}

fn select_mean_us(reports: &[SliceReport]) -> f64 {
    let (mut sum_ns, mut ops) = (0, 0);
    for op in reports.iter().map(|report| report.op(OpKind::Select)) {
        sum_ns += op.latency.sum_ns;
        ops += op.ops;
    }
    sum_ns as f64 / ops as f64 / 1e3
}

#[test]
fn the_mean_latency_is_the_one_asked_for() {
    for spread in ["0", "0.5"] {
        // Long waits: a busy host adds only a small share to each, and at least one of several attempts has little of
        // it.
        let fixture = null("20ms").with("null_spread", spread);
        let mean = |_| select_mean_us(&fixture.loaded().work_ops(&fixture.workload(), 1, Some(100)));
        let off = |mean: &f64| !(17_000.0..26_000.0).contains(mean);
        let tries: Vec<f64> = (0..5).map(mean).take_while(off).collect();
        assert!(tries.len() < 5, "{tries:?} us with spread {spread}");
    }
}

#[test]
fn a_session_of_many_is_slowed_by_the_known_curve() {
    let fixture = null("10ms").with("null_capacity", "4");
    let opened = fixture.loaded();
    let mean = |sessions| {
        let mut session = opened.session(&fixture.workload(), 0, sessions);
        let order = opened.orders().next(0, Some(30));
        select_mean_us(&[session.run_slice(&order).unwrap()])
    };
    let ratio = mean(16) / mean(1);
    assert!((3.0..5.0).contains(&ratio), "16 sessions on 4 servers are slower by {ratio}");
}

#[test]
fn a_stall_loses_no_arrival_and_shows_in_response_times() {
    let fixture = null("200us").with("null_stall", "200ms+300ms");
    let workload = Workload { rate: Some(Rate { per_s: 400.0, even: true }), ..fixture.workload() };
    let reports = fixture.loaded().work(&workload, 5);
    let done: u64 = reports.iter().map(SliceReport::total_ops).sum();
    let left = reports.last().unwrap().backlog.unwrap();
    assert!((done + left).abs_diff(400) <= 2, "{done} done, {left} left of 400");
    let response = |report: &SliceReport| report.op(OpKind::Select).response.clone().unwrap();
    let slowest = reports.iter().map(|report| response(report).max_ns).max().unwrap();
    assert!(slowest >= 290_000_000, "the longest response was {slowest} ns");
    // Service times show one slow operation, response times all that queued after it.
    let behind: u64 = reports
        .iter()
        .flat_map(|report| response(report).buckets.iter().collect::<Vec<_>>())
        .filter(|(ns, _)| *ns > 50_000_000)
        .map(|(_, count)| count)
        .sum();
    assert!(behind > 60, "{behind} operations waited");
}

#[test]
fn sessions_die_and_fail_to_connect_as_asked() {
    let fixture = null("1ms").with("null_fail", "0@250ms,connect:1");
    let opened = fixture.loaded();
    let workload = fixture.workload();
    let placement = Placement { session: 1, sessions: 2, schema: 2, endpoint: 0 };
    let refused = opened.target.session(&workload, placement).err().unwrap();
    assert_eq!(refused.kind, ErrorKind::Target);
    let (mut session, mut orders) = (opened.session(&workload, 0, 2), opened.orders());
    let slice = |session: &mut Box<dyn Session>, order| session.run_slice(&order);
    let first = slice(&mut session, orders.next(0, None)).unwrap();
    let died = slice(&mut session, orders.next(first.total_ops(), None)).unwrap_err();
    assert_eq!(died.kind, ErrorKind::Run);
    assert!(died.to_string().contains("session 1"), "{died}");
}

#[test]
fn slices_are_timed_by_the_targets_own_clock() {
    let fixture = null("1ms").with("null_clock_offset", "1h");
    let opened = fixture.loaded();
    let order = opened.orders().next(0, None);
    let report = opened.session(&fixture.workload(), 0, 1).run_slice(&order).unwrap();
    assert!(report.begin_us >= order.begin_us && report.begin_us < order.end_us);
}

#[test]
fn counters_follow_from_the_caches_reported() {
    let fixture = null("0s").with("null_hit_ratio", "60").with("null_page_cache_share", "25").with("null_cpu", "3us");
    let opened = fixture.loaded();
    let mut sampler = opened.target.samplers().unwrap().remove(0);
    opened.work_ops(&fixture.workload(), 1, Some(1_000));
    let values = sampler.read().unwrap();
    let value = |name: mindful_core::contract::metric::Counter| {
        let index = sampler.metrics().iter().position(|metric| metric.name == name).unwrap();
        values[index].unwrap() as u64
    };
    assert_eq!(value(Counter::LogicalReads), 8_000);
    assert_eq!(value(Counter::PhysicalReads), 3_200);
    assert_eq!(value(Counter::ProcessReadBytes), 2_400 * 8_192);
    assert_eq!(value(Counter::ServerCpuUserUs), 24_000);
}
