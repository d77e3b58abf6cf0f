//! Throughput as a function of sessions.

use mindful_core::stored_names;

use crate::stats::least_squares::Bounds;

/// Lowest sharpness of a capped model. At 1 it would be the contention curve of the USL, and no choice between the two.
const BLUNTEST: f64 = 1.5;

/// Highest sharpness; beyond it the curve is two straight lines to all measurable digits.
const SHARPEST: f64 = 40.0;

stored_names! {
    /// The simple ones first.
    pub enum ModelKind {
        /// `X = [(N/R0)^-q + C^-q]^(-1/q)`: a straight rise, then a cap.
        Capped = "capped",
        /// `X = l N / (1 + s (N-1) + k N (N-1))`: the Universal Scalability Law (Gunther 2007).
        Usl = "usl",
        /// Capped, by `1 / (1 + k N^2)`: a cap that falls under load.
        CappedRetrograde = "capped_retrograde",
    }
}

impl ModelKind {
    /// Ranges of the parameters as they are fitted: scale parameters and sharpness as logarithms.
    pub(super) fn bounds(self) -> Vec<Bounds> {
        let (scale, sharpness) = ((-60.0, 60.0), (BLUNTEST.ln(), SHARPEST.ln()));
        match self {
            Self::Capped => vec![scale, scale, sharpness],
            Self::Usl => vec![scale, (0.0, 1.0), (0.0, 1.0)],
            Self::CappedRetrograde => vec![scale, scale, sharpness, (0.0, 1.0)],
        }
    }

    /// Start values of fits, from the first point and the highest throughput.
    pub(super) fn starts(self, first: (f64, f64), highest: f64, most: f64) -> Vec<Vec<f64>> {
        let (zero_load, cap) = ((first.0 / first.1).ln(), highest.ln());
        let sharp = [2.5_f64, 8.0].map(f64::ln);
        match self {
            Self::Capped => sharp.iter().map(|q| vec![zero_load, cap, *q]).collect(),
            Self::Usl => [(0.05, 1e-2), (0.3, 1e-3), (0.01, 0.3), (0.05, 0.0)]
                .iter()
                .map(|(s, k)| vec![-zero_load, *s, k / most])
                .collect(),
            Self::CappedRetrograde => {
                sharp.iter().flat_map(|q| [0.02, 0.5].map(|k| vec![zero_load, cap, *q, k / (most * most)])).collect()
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    kind: ModelKind,
    /// Its parameters as they are fitted: capped `ln R0`, `ln C`, `ln q` and kappa; USL `ln lambda`, sigma and kappa.
    fitted: Vec<f64>,
}

impl Model {
    pub(super) fn new(kind: ModelKind, fitted: Vec<f64>) -> Self {
        Self { kind, fitted }
    }

    pub(super) fn fitted(&self) -> &[f64] {
        &self.fitted
    }

    pub fn kind(&self) -> ModelKind {
        self.kind
    }

    /// Throughput of `n` sessions, per second.
    pub(crate) fn throughput(&self, n: f64) -> f64 {
        log_throughput(self.kind, &self.fitted, n).exp()
    }

    /// Latency of one session that meets no other, s.
    pub fn zero_load_s(&self) -> f64 {
        match self.kind {
            ModelKind::Usl => (-self.fitted[0]).exp(),
            ModelKind::Capped | ModelKind::CappedRetrograde => self.fitted[0].exp(),
        }
    }

    /// Highest throughput at any load, per second; `None` if the curve is unbounded.
    pub(crate) fn capacity(&self) -> Option<f64> {
        let p = &self.fitted;
        match (self.kind, self.peak_sessions()) {
            (_, Some(peak)) => Some(self.throughput(peak)),
            (ModelKind::Usl, None) => (p[1] > 0.0).then(|| p[0].exp() / p[1]),
            (ModelKind::Capped | ModelKind::CappedRetrograde, None) => Some(p[1].exp()),
        }
    }

    /// Sessions of the highest throughput, if it falls beyond; `None` if it never falls.
    pub(crate) fn peak_sessions(&self) -> Option<f64> {
        let p = &self.fitted;
        match self.kind {
            ModelKind::Capped => None,
            ModelKind::Usl => (p[2] > 0.0).then(|| ((1.0 - p[1]).max(0.0) / p[2]).sqrt().max(1.0)),
            ModelKind::CappedRetrograde => {
                // Past one session in 1 / sqrt(kappa) the curve falls in any case.
                (p[3] > 0.0).then(|| highest(|n| log_throughput(self.kind, p, n), 2.0 / p[3].sqrt().min(1.0)))
            }
        }
    }

    /// `R0 C` (operational analysis, Denning and Buzen 1978); `None` if the curve is unbounded.
    pub(crate) fn asymptote_sessions(&self) -> Option<f64> {
        Some(self.zero_load_s() * self.capacity()?)
    }

    /// Sessions of the best throughput per latency, `X / R = X^2 / N` by Little's law (Kleinrock's power), within
    /// 1..`most`; `None` if it still rises at `most`.
    pub(crate) fn best_power_sessions(&self, most: f64) -> Option<f64> {
        let best = highest(|n| 2.0 * log_throughput(self.kind, &self.fitted, n) - n.ln(), most);
        (best < 0.999 * most).then_some(best)
    }

    /// Highest throughput within 1..`most` sessions, per second.
    pub(crate) fn max_within(&self, most: f64) -> f64 {
        self.throughput(self.peak_sessions().map_or(most, |peak| peak.min(most)))
    }
}

/// Logarithm of the throughput; on logarithms no power overflows.
pub(super) fn log_throughput(kind: ModelKind, p: &[f64], n: f64) -> f64 {
    match kind {
        ModelKind::Usl => p[0] + n.ln() - (p[1] * (n - 1.0) + p[2] * n * (n - 1.0)).ln_1p(),
        ModelKind::Capped => capped(p, n),
        ModelKind::CappedRetrograde => capped(p, n) - (p[3] * n * n).ln_1p(),
    }
}

fn capped(p: &[f64], n: f64) -> f64 {
    let (rise, cap, sharpness) = (n.ln() - p[0], p[1], p[2].exp());
    // The smaller one leads; the other one rounds the corner.
    rise.min(cap) - (-sharpness * (rise - cap).abs()).exp().ln_1p() / sharpness
}

/// Where in 1..`most` the function is highest: a grid on the logarithm, then golden sections.
fn highest(f: impl Fn(f64) -> f64, most: f64) -> f64 {
    const CELLS: u32 = 64;
    let at = |place: f64| (most.ln() * place / f64::from(CELLS)).exp();
    let best = (0..=CELLS).max_by(|a, b| f(at(f64::from(*a))).total_cmp(&f(at(f64::from(*b))))).unwrap_or(0);
    let (mut low, mut high) = (f64::from(best.saturating_sub(1)), f64::from((best + 1).min(CELLS)));
    let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
    for _ in 0..24 {
        let reach = golden * (high - low);
        if f(at(high - reach)) < f(at(low + reach)) { low = high - reach } else { high = low + reach }
    }
    at(f64::midpoint(low, high))
}
