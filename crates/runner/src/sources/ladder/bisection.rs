//! The search for the highest load that meets an objective.

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bisection {
    pub from: f64,
    pub to: f64,
    /// Smallest step that matters: 1 for sessions.
    pub grain: f64,
    /// The search ends when the loads that meet and miss the objective are this near, as a share.
    pub tolerance: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trial {
    pub load: f64,
    pub met: bool,
    pub full_length: bool,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Move {
    Try(f64),
    /// A full-length run at this load.
    Confirm(f64),
    /// This load meets the objective, confirmed; with `beyond` even the highest load allowed does.
    Found {
        load: f64,
        /// Whether the true limit lies higher.
        beyond: bool,
    },
    /// Not even the smallest load meets it.
    Missed,
}

impl Bisection {
    /// The next move after `trials` in any order: doubles up to the first miss, halves the gap on the logarithm, then
    /// confirms. A full-length run outweighs short ones, and a load that fails it counts as a miss.
    pub(crate) fn next(&self, trials: &[Trial]) -> Move {
        let miss = self.loads(trials, false).fold(f64::INFINITY, f64::min);
        let met = self.loads(trials, true).filter(|load| *load < miss).fold(0.0, f64::max);
        if met <= 0.0 {
            return if miss <= self.from { Move::Missed } else { Move::Try(self.from) };
        }
        if miss.is_infinite() && met < self.to {
            return Move::Try((met * 2.0).min(self.to));
        }
        let near = miss - met < 2.0 * self.grain || miss <= met * (1.0 + self.tolerance);
        if miss.is_finite() && !near {
            let middle = ((met * miss).sqrt() / self.grain).round() * self.grain;
            return Move::Try(middle.clamp(met + self.grain, miss - self.grain));
        }
        if trials.iter().any(|t| t.full_length && self.same(t.load, met)) {
            Move::Found { load: met, beyond: miss.is_infinite() }
        } else {
            Move::Confirm(met)
        }
    }

    fn loads<'a>(&'a self, trials: &'a [Trial], met: bool) -> impl Iterator<Item = f64> + 'a {
        trials.iter().map(|t| t.load).filter(move |load| self.holds(trials, *load) == met)
    }

    /// Whether `load` met the objective each time it had its full length, or else each time.
    fn holds(&self, trials: &[Trial], load: f64) -> bool {
        let here = |full: bool| trials.iter().filter(move |t| self.same(t.load, load) && (t.full_length || !full));
        let full = here(true).next().is_some();
        here(full).all(|t| t.met)
    }

    fn same(&self, a: f64, b: f64) -> bool {
        (a - b).abs() < self.grain / 2.0
    }
}
