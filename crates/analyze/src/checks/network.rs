//! Whether the network of a client was full in the window.

use std::collections::BTreeMap;

use mindful_core::contract::metric::{HostSource, MetricFamily};
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::figures::counters::{Change, Counters};
use crate::figures::window::window;
use crate::judgement::headline::percent;

/// Share of an interface's speed in bytes counted that means that it is full: gaps and headers of frames are not
/// counted. They are 2 % of long frames and more of short ones.
pub(super) const NETWORK_FULL: f64 = 0.9;

struct Way<'a> {
    interface: &'a str,
    does: &'static str,
    bytes_per_s: f64,
    speed: f64,
}

impl Way<'_> {
    fn share(&self) -> f64 {
        self.bytes_per_s / self.speed
    }
}

/// The fullest interface of this process's host, where one is full.
pub(super) fn check_step(step: &StepRecord, counters: &Counters) -> Option<Finding> {
    let (speeds, of_network) =
        (speeds(step), counters.0.iter().filter(|change| change.source == HostSource::Network.name()));
    let ways = of_network.filter_map(|change| way(change, &speeds));
    let fullest = ways.max_by(|one, other| one.share().total_cmp(&other.share()))?;
    (fullest.share() > NETWORK_FULL).then(|| {
        let text = "An interface of mindful's host was full, so the figures are those of the network. Use --loop \
                    server, a faster network, or ranks on more hosts.";
        let Way { interface, does, bytes_per_s, speed } = &fullest;
        let whose = first_of_several(step);
        let evidence = format!(
            "{whose}{interface} {does} {:.0} of {:.0} MB/s, {}",
            bytes_per_s / 1e6,
            speed / 1e6,
            percent(fullest.share())
        );
        codes::NETWORK_FULL.finding(text, evidence)
    })
}

/// The part of a rank judges its own network, because the merged run has only the counters of the first rank.
pub fn check_part(run: &Run) -> Vec<Finding> {
    let check = |step: &StepRecord| check_step(step, &Counters::from_step(step, &window(step)?));
    run.steps.iter().filter_map(check).collect()
}

fn first_of_several(step: &StepRecord) -> String {
    match &*step.ranks {
        [first, _, ..] => format!("rank {} on {}: ", first.rank, first.host),
        _ => String::new(),
    }
}

/// Capacity of each interface in one direction, by its last reading.
fn speeds(step: &StepRecord) -> BTreeMap<&str, f64> {
    let of_network = step.series.iter().filter(|series| series.source == HostSource::Network.name());
    let named = of_network.flat_map(|series| {
        let last = series.readings.last().map_or(&[][..], |reading| &*reading.values);
        series.metrics.iter().zip(last)
    });
    named
        .filter_map(|(metric, value)| {
            Some((MetricFamily::Speed.find_thing(&metric.name)?, value.filter(|v| *v > 0.0)?))
        })
        .collect()
}

fn way<'a>(change: &'a Change, speeds: &BTreeMap<&str, f64>) -> Option<Way<'a>> {
    let does = |figure: MetricFamily, does| Some((figure.find_thing(&change.name)?, does));
    let (interface, does) = does(MetricFamily::Received, "received").or_else(|| does(MetricFamily::Sent, "sent"))?;
    Some(Way { interface, does, bytes_per_s: change.delta? / change.seconds, speed: *speeds.get(interface)? })
}
