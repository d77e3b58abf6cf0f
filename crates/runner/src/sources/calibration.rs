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
pub struct Outcome {
    pub per_s: f64,
    pub mean_us: f64,
    /// 99th percentile, us; `None` if there were too few reads.
    pub p99_us: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    /// Most random block reads per second within the limit, with their load; `None` if a single read at a time takes
    /// longer.
    pub blocks: Option<(Outcome, u32)>,
    /// Most large reads per second, and at which load.
    pub large: Option<(Outcome, u32)>,
}

#[derive(Debug, Clone)]
pub struct Calibration {
    limit_us: f64,
    blocks: Climb,
    large: Climb,
}

impl Calibration {
    /// A calibration for block reads with a mean latency of at most `limit_us`. Large reads have no limit.
    pub fn new(limit_us: f64) -> Self {
        Self { limit_us, blocks: Climb::default(), large: Climb::default() }
    }

    /// The next load; `None` if the search is finished.
    pub fn next(&self) -> Option<InFlight> {
        let small = self.blocks.next(self.limit_us).map(|small| InFlight { small, large: 0 });
        small.or_else(|| self.large.next(f64::INFINITY).map(|large| InFlight { small: 0, large }))
    }

    pub fn record(&mut self, load: InFlight, outcome: Outcome) {
        if load.large > 0 {
            self.large.tried.push((load.large, outcome));
        } else {
            self.blocks.tried.push((load.small, outcome));
        }
    }

    pub fn answer(&self) -> Answer {
        Answer { blocks: self.blocks.best(self.limit_us), large: self.large.best(f64::INFINITY) }
    }
}

/// Doubles a load until it is too slow or brings no more, then halves the gap to the last one within the limit.
#[derive(Debug, Clone, Default)]
struct Climb {
    tried: Vec<(u32, Outcome)>,
}

impl Climb {
    fn next(&self, limit_us: f64) -> Option<u32> {
        let within = |(_, outcome): &&(u32, Outcome)| outcome.mean_us <= limit_us;
        let low = self.tried.iter().filter(within).map(|(load, _)| *load).max();
        let high = self.tried.iter().filter(|one| !within(one)).map(|(load, _)| *load).min();
        match (low, high) {
            (None, None) => Some(1),
            (None, Some(_)) => None,
            // Within a quarter of the load the latency is within a quarter of the limit.
            (Some(low), Some(high)) => (high - low > (low / 4).max(1)).then_some(u32::midpoint(low, high)),
            (Some(low), None) => (low < MOST && self.still_gains()).then_some(low * 2),
        }
    }

    /// Whether the last two doublings added throughput.
    fn still_gains(&self) -> bool {
        match self.tried[..] {
            [.., (_, before), (_, _), (_, now)] => now.per_s > before.per_s * GAIN,
            _ => true,
        }
    }

    fn best(&self, limit_us: f64) -> Option<(Outcome, u32)> {
        let within = self.tried.iter().filter(|(_, outcome)| outcome.mean_us <= limit_us);
        within.max_by(|a, b| a.1.per_s.total_cmp(&b.1.per_s)).map(|(load, outcome)| (*outcome, *load))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device of `servers` that serve a read in `service_us` each: beyond them reads wait.
    fn device(load: u32, servers: u32, service_us: f64) -> Outcome {
        let busy = f64::from(load.min(servers));
        let per_s = busy / service_us * 1e6;
        Outcome { per_s, mean_us: f64::from(load) / per_s * 1e6, p99_us: None }
    }

    fn calibrate(limit_us: f64, servers: u32, service_us: f64) -> (Answer, usize) {
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
        (calibration.answer(), tries)
    }

    #[test]
    fn a_device_without_a_latency_problem_gives_all_it_has() {
        let (answer, tries) = calibrate(20_000.0, 32, 100.0);
        let (blocks, _) = answer.blocks.unwrap();
        assert!((blocks.per_s / 320_000.0 - 1.0).abs() < 0.01, "{blocks:?}");
        assert!((answer.large.unwrap().0.per_s / 4_000.0 - 1.0).abs() < 0.01, "{answer:?}");
        assert!(tries < 24, "{tries} tries");
    }

    #[test]
    fn the_limit_is_kept_and_nearly_reached() {
        // One server: latency is load times service, so a limit of 50 services allows a load of 50.
        for servers in [1, 8] {
            let (answer, _) = calibrate(5_000.0, servers, 100.0);
            let (blocks, load) = answer.blocks.unwrap();
            assert!(blocks.mean_us <= 5_000.0, "{blocks:?}");
            assert!(load >= servers, "{answer:?}");
            assert!((blocks.per_s / (f64::from(servers) * 10_000.0) - 1.0).abs() < 0.01, "{answer:?}");
        }
    }

    #[test]
    fn a_device_that_is_always_too_slow_has_no_answer() {
        let (answer, _) = calibrate(50.0, 8, 100.0);
        assert_eq!(answer.blocks, None);
        assert!(answer.large.is_some());
    }
}
