//! The search of `--preset calibrate`: the most random block reads per second within a latency limit, and the most MiB
//! per second by large reads.
//!
//! The load is the number of reads in flight. It doubles as long as that adds throughput and keeps the limit. Then the
//! gap between the largest load within the limit and the smallest beyond it is halved, down to a quarter of the load.
//! The search is a pure function of the loads tried so far, so it is tested against a simulated device.

use mindful_core::contract::file_read::InFlight;

/// Smallest gain of two doublings for which the load is doubled again.
const GAIN: f64 = 1.05;

const MOST: u32 = 1_024;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub per_s: f64,
    pub mean_us: f64,
}

/// Loads that were tried, each with its outcome.
type Tried = Vec<(u32, Outcome)>;

#[derive(Debug, Clone)]
pub(crate) struct Calibration {
    limit_us: f64,
    blocks: Tried,
    large: Tried,
}

impl Calibration {
    /// A calibration for block reads with a mean latency of at most `limit_us`. Large reads have no limit.
    pub(crate) fn new(limit_us: f64) -> Self {
        Self { limit_us, blocks: Vec::new(), large: Vec::new() }
    }

    /// The next load; `None` if the search is finished.
    pub(crate) fn next(&self) -> Option<InFlight> {
        let small = next_load(&self.blocks, self.limit_us).map(|small| InFlight { small, large: 0 });
        small.or_else(|| next_load(&self.large, f64::INFINITY).map(|large| InFlight { small: 0, large }))
    }

    pub(crate) fn record(&mut self, load: InFlight, outcome: Outcome) {
        if load.large > 0 {
            self.large.push((load.large, outcome));
        } else {
            self.blocks.push((load.small, outcome));
        }
    }
}

/// Doubles a load until it is too slow or brings no more, then halves the gap to the last one within the limit.
fn next_load(tried: &Tried, limit_us: f64) -> Option<u32> {
    let within = |(_, outcome): &&(u32, Outcome)| outcome.mean_us <= limit_us;
    let low = tried.iter().filter(within).map(|(load, _)| *load).max();
    let high = tried.iter().filter(|one| !within(one)).map(|(load, _)| *load).min();
    // Whether the last two doublings added throughput.
    let still_gains = match tried[..] {
        [.., (_, before), (_, _), (_, now)] => now.per_s > before.per_s * GAIN,
        _ => true,
    };
    match (low, high) {
        (None, None) => Some(1),
        (None, Some(_)) => None,
        // Within a quarter of the load the latency is within a quarter of the limit.
        (Some(low), Some(high)) => (high - low > (low / 4).max(1)).then_some(u32::midpoint(low, high)),
        (Some(low), None) => (low < MOST && still_gains).then_some(low * 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of `servers` that serve a read in `service_us` each: beyond them reads wait.
    fn device(load: u32, servers: u32, service_us: f64) -> Outcome {
        let busy = f64::from(load.min(servers));
        let per_s = busy / service_us * 1e6;
        Outcome { per_s, mean_us: f64::from(load) / per_s * 1e6 }
    }

    type Best = Option<(u32, Outcome)>;

    /// Most reads per second within the limit, with their load.
    fn best(tried: &Tried, limit_us: f64) -> Best {
        let within = tried.iter().copied().filter(|(_, outcome)| outcome.mean_us <= limit_us);
        within.max_by(|a, b| a.1.per_s.total_cmp(&b.1.per_s))
    }

    /// The best block reads and the best large reads, and the number of tries.
    fn calibrate(limit_us: f64, servers: u32, service_us: f64) -> (Best, Best, usize) {
        let mut calibration = Calibration::new(limit_us);
        let mut tries = 0;
        while let Some(point) = calibration.next() {
            tries += 1;
            let outcome = match point.large {
                0 => device(point.small, servers, service_us),
                large => device(large, 4, 10.0 * service_us),
            };
            calibration.record(point, outcome);
        }
        (best(&calibration.blocks, limit_us), best(&calibration.large, f64::INFINITY), tries)
    }

    #[test]
    fn a_device_without_a_latency_problem_gives_all_it_has() {
        let (blocks, large, tries) = calibrate(20_000.0, 32, 100.0);
        assert!((blocks.unwrap().1.per_s / 320_000.0 - 1.0).abs() < 0.01, "{blocks:?}");
        assert!((large.unwrap().1.per_s / 4_000.0 - 1.0).abs() < 0.01, "{large:?}");
        assert!(tries < 24, "{tries} tries");
    }

    #[test]
    fn the_limit_is_kept_and_nearly_reached() {
        // One server: latency is load times service, so a limit of 50 services allows a load of 50.
        for servers in [1, 8] {
            let (load, blocks) = calibrate(5_000.0, servers, 100.0).0.unwrap();
            assert!(load >= servers, "{load}: {blocks:?}");
            assert!((blocks.per_s / (f64::from(servers) * 10_000.0) - 1.0).abs() < 0.01, "{blocks:?}");
        }
    }

    #[test]
    fn a_device_that_is_always_too_slow_has_no_answer() {
        let (blocks, large, _) = calibrate(50.0, 8, 100.0);
        assert!(blocks.is_none() && large.is_some());
    }
}
