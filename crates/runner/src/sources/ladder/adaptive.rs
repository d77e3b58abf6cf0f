//! The ladder of sessions that chooses its own steps.
//!
//! It doubles the sessions until two doublings in a row add less than 5 %. Then it measures three points around the
//! knee and one at twice the knee, in random order. Last it repeats the first step: a difference there is drift of the
//! platform. The knee is computed from the doublings alone, so that it does not move while its neighbourhood is
//! measured. Equal steps were rejected: a curve needs points where it bends, and one machine bends at 4 sessions,
//! another at 400.

use mindful_analyze::stats::random::Random;

use super::axis::doubled;

/// A doubling that adds less than this is flat.
const FLAT: f64 = 0.05;

/// Where points are put round the knee, as powers of two of it, the most useful ones first.
const ROUND: [f64; 9] = [-0.5, 0.5, 0.0, -0.25, 0.25, -0.75, 0.75, -1.25, 1.5];

const POINTS_ROUND: usize = 3;

/// Where one more point is put past the knee: at twice as many sessions.
const PAST: f64 = 1.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Adaptive {
    pub from: u32,
    pub to: u32,
    /// Seed of the order of the points round the knee.
    pub seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    pub sessions: u32,
    pub throughput: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextSessions {
    pub sessions: u32,
    /// Whether it is the first step again: a difference is drift.
    pub drift_check: bool,
}

impl Adaptive {
    /// The next step after `measured`, the finished steps in the order they ran; `None` if the ladder is complete.
    ///
    /// With `steps_left` of a budget, the last of them is reserved for the repetition of the first step.
    pub(crate) fn next(&self, measured: &[Measured], steps_left: Option<u32>) -> Option<NextSessions> {
        let repetitions = measured.iter().filter(|m| m.sessions == self.from).count();
        let check = NextSessions { sessions: self.from, drift_check: true };
        let check = Some(check).filter(|_| repetitions < 2 && measured.len() > 1);
        match steps_left {
            Some(0) => return None,
            Some(1) if measured.len() > 1 => return check,
            _ => {}
        }
        let (doublings, next) = self.doublings(measured);
        let point = next.or_else(|| self.round_knee(&doublings, measured));
        point.map(|sessions| NextSessions { sessions, drift_check: false }).or(check)
    }

    /// Most steps of such a ladder: a budget of so many lets it end.
    pub(crate) fn most_steps(&self) -> u32 {
        doubled(u64::from(self.from), u64::from(self.to)).len() as u32 + POINTS_ROUND as u32 + 2
    }

    /// The measured doublings, and the next one; `None` after two flat ones in a row, or at the end.
    fn doublings(&self, measured: &[Measured]) -> (Vec<(u32, f64)>, Option<u32>) {
        let (mut taken, mut flat): (Vec<(u32, f64)>, u32) = (Vec::new(), 0);
        for sessions in doubled(u64::from(self.from), u64::from(self.to)) {
            let sessions = sessions as u32;
            let Some(here) = throughput_at(measured, sessions) else { return (taken, Some(sessions)) };
            flat = if taken.last().is_some_and(|(_, x)| here < x * (1.0 + FLAT)) { flat + 1 } else { 0 };
            taken.push((sessions, here));
            if flat == 2 {
                break;
            }
        }
        (taken, None)
    }

    /// The next point around the knee or past it. The knee, `X_max / X(1)`, is computed from the doublings alone, so it
    /// does not move while the points are measured.
    fn round_knee(&self, doublings: &[(u32, f64)], measured: &[Measured]) -> Option<u32> {
        let (first, alone) = *doublings.first()?;
        let (top, highest) = (doublings.last()?.0, doublings.iter().map(|r| r.1).fold(0.0, f64::max));
        if alone <= 0.0 {
            return None;
        }
        let knee = (f64::from(first) * highest / alone).clamp(f64::from(first), f64::from(top));
        let mut points: Vec<u32> = Vec::new();
        for (place, most) in ROUND.map(|place| (place, POINTS_ROUND)).into_iter().chain([(PAST, POINTS_ROUND + 1)]) {
            let sessions = (knee * place.exp2()).round() as u32;
            let known = points.contains(&sessions) || doublings.iter().any(|r| r.0 == sessions);
            if !known && points.len() < most && (self.from..=self.to).contains(&sessions) {
                points.push(sessions);
            }
        }
        Random::new(self.seed, "points round the knee").shuffle(&mut points);
        points.into_iter().find(|sessions| throughput_at(measured, *sessions).is_none())
    }
}

/// The throughput when `sessions` were measured first.
fn throughput_at(measured: &[Measured], sessions: u32) -> Option<f64> {
    measured.iter().find(|m| m.sessions == sessions).map(|m| m.throughput)
}
