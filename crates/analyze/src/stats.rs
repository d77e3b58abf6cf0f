//! Small numeric pieces that the judgements share: moments, ranks, autocorrelation, fits, seeded draws.

pub mod distribution;
pub(crate) mod interval;
pub(crate) mod least_squares;
pub mod moment;
pub mod random;
pub(crate) mod rank_sum;
pub mod series;
