//! The measurement at each load, and the search for the knee in it.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPoint {
    pub sessions: u32,
    /// Operations (or blocks) per second.
    pub throughput: f64,
    /// Relative standard error of the throughput, where known.
    pub error: Option<f64>,
    /// 99th percentile of latency, us, where known.
    pub p99_us: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    /// Latency objective for the 99th percentile, us.
    pub p99_target_us: Option<f64>,
    /// Bootstrap resamples for the intervals; 0 leaves them out.
    pub resamples: usize,
    pub seed: u64,
}

impl Default for Search {
    fn default() -> Self {
        Self { p99_target_us: None, resamples: 400, seed: 1 }
    }
}
