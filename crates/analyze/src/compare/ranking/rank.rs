//! Ranks of several sides.
//!
//! Each pair of sides is compared as two sides are, and all comparisons hold at once (`Question::family`). Among K
//! sides, a side with B better and W worse sides has the ranks 1 + B to K - W. This is inference for ranks (Mogstad,
//! Romano, Shaikh and Wilhelm, Review of Economic Studies 91, 2024). All these sets of ranks contain the true ranks
//! with the confidence of the intervals. A clustering into groups was rejected, because "not distinguishable" is not
//! transitive.

use mindful_core::Result;

use crate::compare::answer::{Comparison, NoiseFloor, Question, RunValue, Verdict};
use crate::compare::machines::compare_runs;
use crate::compare::student::StandardError;
use crate::stats::moment::{mean, median, variance};

#[derive(Debug, Clone)]
pub struct SideValues {
    pub runs: Vec<RunValue>,
    /// Variation between runs of one plan on its platform, if it was measured.
    pub noise: Option<NoiseFloor>,
}

impl SideValues {
    pub(crate) fn median(&self) -> f64 {
        median(&self.runs.iter().map(|run| run.value).collect::<Vec<_>>()).unwrap_or(f64::NAN)
    }

    /// Where its figure lies: by its machines if there are several, else by its runs, else by the noise floor.
    pub(super) fn interval(&self) -> Option<[f64; 2]> {
        let logarithms = crate::compare::machines::means(&self.runs);
        let count = logarithms.len() as f64;
        let (square, freedom) = match (variance(&logarithms), self.noise) {
            (Some(square), _) => (square, count - 1.0),
            (None, Some(floor)) => (floor.variation.powi(2), f64::from(floor.runs.max(2) - 1)),
            (None, None) => return None,
        };
        let error = StandardError { deviation: (square / count).sqrt(), freedom };
        let around = error.around(mean(&logarithms)?, 1);
        Some([around.low.min(self.median()), around.high.max(self.median())])
    }
}

#[derive(Debug)]
pub struct Ranks {
    /// Their numbers, best first.
    pub order: Vec<usize>,
    /// Highest and lowest rank of each side, in input order.
    pub ranks: Vec<[u32; 2]>,
    /// `pairs[a][b]` for a < b: b compared with a.
    pairs: Vec<Vec<Option<Comparison>>>,
}

impl Ranks {
    /// The ranks of `sides`. A pair with a single run on a side is judged by the wider noise floor of the two.
    ///
    /// # Errors
    /// A side without runs, or a figure that has no ratio.
    pub fn from_sides(sides: &[SideValues], question: &Question) -> Result<Self> {
        let count = sides.len();
        let family = (count * count.saturating_sub(1) / 2).max(1);
        let mut pairs = vec![vec![None; count]; count];
        for (b, candidate) in sides.iter().enumerate() {
            for (a, baseline) in sides[..b].iter().enumerate() {
                let question = Question { noise: noise_of_pair([baseline, candidate]), family, ..question.clone() };
                pairs[a][b] = Some(compare_runs(&baseline.runs, &candidate.runs, &question)?);
            }
        }
        let mut order: Vec<usize> = (0..count).collect();
        let better = |a: f64, b: f64| if question.higher_is_faster { b.total_cmp(&a) } else { a.total_cmp(&b) };
        order.sort_by(|a, b| better(sides[*a].median(), sides[*b].median()).then(a.cmp(b)));
        let mut ranks = Self { order, ranks: Vec::new(), pairs };
        ranks.ranks = (0..count).map(|side| ranks.possible_ranks(side, count)).collect();
        Ok(ranks)
    }

    pub(super) fn leave_open(&mut self, side: usize, other: usize) {
        if let Some(compared) = &mut self.pairs[side.min(other)][side.max(other)] {
            compared.verdict = Verdict::NotDecided;
        }
        let count = self.ranks.len();
        self.ranks = (0..count).map(|side| self.possible_ranks(side, count)).collect();
    }

    fn possible_ranks(&self, side: usize, count: usize) -> [u32; 2] {
        let number = |of: fn(&Self, usize, usize) -> bool| {
            (0..count).filter(|other| *other != side && of(self, *other, side)).count() as u32
        };
        [1 + number(Self::is_better), count as u32 - number(|ranks, other, side| ranks.is_better(side, other))]
    }

    pub fn is_better(&self, side: usize, other: usize) -> bool {
        match (&self.pairs[side.min(other)][side.max(other)], side > other) {
            (Some(compared), true) => compared.verdict == Verdict::Faster,
            (Some(compared), false) => compared.verdict == Verdict::Slower,
            (None, _) => false,
        }
    }

    /// `side` by `other`: the ratio, its interval, and the comparison that both are from.
    pub fn ratio(&self, side: usize, other: usize) -> Option<(f64, Option<[f64; 2]>, &Comparison)> {
        let compared = self.pairs[side.min(other)][side.max(other)].as_ref()?;
        let interval = compared.interval.map(|i| [i.low, i.high]);
        Some(if side > other {
            (compared.ratio, interval, compared)
        } else {
            (1.0 / compared.ratio, interval.map(|[low, high]| [1.0 / high, 1.0 / low]), compared)
        })
    }

    pub(crate) fn comparisons_of(&self, side: usize) -> impl Iterator<Item = (usize, &Comparison)> {
        (0..self.ranks.len()).filter_map(move |other| Some((other, self.ratio(side, other)?.2)))
    }
}

fn noise_of_pair(sides: [&SideValues; 2]) -> Option<NoiseFloor> {
    let alone = sides.into_iter().filter(|side| side.runs.len() == 1);
    let floors: Option<Vec<NoiseFloor>> = alone.map(|side| side.noise).collect();
    floors?.into_iter().max_by(|a, b| a.variation.total_cmp(&b.variation))
}
