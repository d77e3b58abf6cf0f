//! The share of the active set that fits the database's cache, and the share of hits.

use mindful_core::record::run::{Run, StepRecord};
use mindful_core::workload::Skew;

use crate::curve::schemas_visited;
use crate::figures::blocks::block_bytes;
use crate::judgement::claims::Gates;

/// Accepted difference between the measured and the predicted share.
pub(crate) const TOLERANCE: f64 = 0.15;

/// Shares of block visits that the database's cache serves, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residence {
    /// Cache by active set and its indexes, when every block is as likely as any other.
    pub predicted: f64,
    /// `1 - physical reads / blocks visited`.
    pub measured: f64,
}

impl Residence {
    /// The shares of a step; `None` if sizes are unknown, some blocks are visited more often, or sessions invalidate
    /// each other's caches.
    pub(crate) fn from_step(run: &Run, step: &StepRecord, gates: &Gates) -> Option<Self> {
        let (workload, placements) = (step.head.workload.as_ref()?, &step.head.placements);
        let description = run.description.as_ref()?;
        let even = workload.skew == Skew::Uniform
            && workload.hot_spot.is_none()
            && workload.hot_schema.is_none()
            && workload.scan_pct.is_none();
        let own = description.cache_each_session;
        // The placement of a session does not show its share of the schemas.
        let divided = own && workload.spread_sessions.is_some();
        // Other sessions' caches do not notice a commit, so their sizes do not show how much of them remains valid.
        let spoilt = own && placements.len() > 1 && !workload.update_pct.is_none();
        let cache = description.cache_bytes.filter(|_| even && !spoilt && !divided)? as f64;
        let dataset = run.dataset.as_ref()?;
        let schemas = if own { 1 } else { schemas_visited(&step.head)? };
        let blocks = workload.scale.saturating_mul(schemas);
        let in_use = blocks as f64 / dataset.blocks_per_schema.saturating_mul(dataset.schemas.into()).max(1) as f64;
        let indexes = dataset.index_bytes.unwrap_or(0) as f64 * in_use;
        let room = (cache - indexes).max(0.0);
        let active = blocks as f64 * block_bytes(run)? as f64;
        let measured = (1.0 - gates.method_yield?).clamp(0.0, 1.0);
        (active > 0.0).then(|| Self { predicted: (room / active).min(1.0), measured })
    }

    /// Whether the two differ by more than chance and warm-up explain.
    pub(crate) fn differs(&self) -> bool {
        (self.predicted - self.measured).abs() > TOLERANCE
    }
}
