//! Whether the network of a client was full, from the counters of its interfaces.

use mindful_analyze::{analyze, checks};
use mindful_core::contract::metric::{HostSource, Metric, MetricFamily, Phase};
use mindful_core::record::run::{RankRecord, Reading, Run, Series};
use mindful_core::result::{Finding, Validity};

use crate::judged::found;
use crate::made::Made;

/// A run with a client that has an interface of this speed, bytes per second, that received and sent so much a second.
fn carried(speed: Option<f64>, received: f64, sent: f64) -> Run {
    let mut run = Made::default().run();
    let step = &mut run.steps[0];
    let metrics = vec![
        Metric::counter(MetricFamily::Received.metric_name("eth0.7"), "bytes", "Made."),
        Metric::counter(MetricFamily::Sent.metric_name("eth0.7"), "bytes", "Made."),
        Metric::gauge(MetricFamily::Speed.metric_name("eth0.7"), "bytes/s", "Made."),
    ];
    let reading = |(boundary, us): (usize, &i64)| {
        let seconds = boundary as f64;
        let values = vec![Some(5e12 + seconds * received), Some(7e9 + seconds * sent), speed];
        Reading { boundary: boundary as u32, at_us: us + 300, cost_us: 10, values }
    };
    let readings = step.boundaries_us.iter().enumerate().map(reading).collect();
    step.series.push(Series { source: HostSource::Network.name().into(), metrics, phase: Phase::Boundary, readings });
    run
}

fn full(run: &Run) -> Option<Finding> {
    found(run, "network-full")
}

#[test]
fn a_full_interface_is_reported_in_either_direction() {
    let received = carried(Some(1.25e9), 1.2e9, 1e6);
    assert_eq!(full(&received).unwrap().evidence, "eth0.7 received 1200 of 1250 MB/s, 96 %");
    assert_eq!(analyze(&received).summary.validity, Validity::Suspect);
    let sent = full(&carried(Some(1.25e9), 1e6, 1.24e9)).unwrap();
    assert!(sent.evidence.starts_with("eth0.7 sent 1240 of 1250 MB/s, 99"), "{}", sent.evidence);
}

#[test]
fn an_interface_with_room_or_of_unknown_speed_is_no_finding() {
    assert_eq!(full(&carried(Some(1.25e9), 1.1e9, 1.1e9)), None, "two directions are two ways");
    assert_eq!(full(&carried(None, 9e9, 9e9)), None);
    assert_eq!(full(&Made::default().run()), None);
}

#[test]
fn the_network_of_each_rank_is_reported_with_its_name() {
    let rank =
        |rank: u32| RankRecord { rank, ranks: 2, host: format!("host-{rank}"), sessions: 2, ..RankRecord::default() };
    let mut run = carried(Some(1.25e9), 1.2e9, 1e6);
    let part = checks::check_part(&run);
    assert_eq!(part.len(), 1, "what goes to the first rank with a part");
    assert!(part[0].evidence.starts_with("eth0.7 received"), "{part:?}");
    run.steps[0].ranks = vec![rank(0), rank(1)];
    assert!(full(&run).unwrap().evidence.starts_with("rank 0 on host-0: eth0.7 received"), "{:?}", full(&run));
}
