//! The search for the highest load that meets an objective, such as `p99<=5ms`.
//!
//! Short trials double the load until one misses the objective, then halve the gap on a logarithmic scale. The highest
//! load that met it is confirmed by a trial of full length, and so is the lowest that missed it. Both are repeated
//! until they differ by more than the trials of the first load do. If they still do not, the answer is a range: chance
//! decides which of two such loads met the objective. A percentile needs a number of operations. If a trial had too
//! few, the same load is tried for longer, and the search fails only if 16 times the duration would not suffice. A
//! regression over all trials was rejected: latency near saturation fits no curve, and one trial at the answer is
//! better evidence.

use std::collections::BTreeMap;

use mindful_core::plan::sweep::Objective;
use mindful_core::plan::units::{format_counted, format_rounded, format_whole};
use mindful_core::record::run::Point;
use mindful_core::result::StepSummary;

use crate::sources::ladder::{Bisection, Move, Trial};

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Next {
    Step(Point),
    Over(String),
    /// The sweep is over without an answer; in words, why.
    Undecided(String),
}

/// A search ends when loads that meet and miss the objective are this near.
const TOLERANCE: f64 = 0.05;
/// The longest trial: 16 times the duration.
const LONGEST_PASS: u32 = 5;
/// The last trial that repeats one of full length, for twice as long: a search may take five durations longer by them.
const LAST_REPEAT: u32 = 2;
/// Limit of the time of such repetitions, in durations.
pub(super) const REPEATS: f64 = 5.0;
/// Room for a rate that falls a little in the longer trial.
const SPARE: f64 = 1.2;
/// Short trials measure this share of the duration.
const SHORT: u32 = 3;

/// Length of a trial relative to the duration: a short one, a full one, and longer ones if operations were too few.
pub(super) fn length_of(pass: u32) -> f64 {
    if pass == 0 { 1.0 / f64::from(SHORT) } else { f64::from(2_u32.saturating_pow(pass - 1)) }
}

pub(super) struct Search<'a> {
    pub(super) objective: Objective,
    pub(super) key: &'a str,
    pub(super) from: f64,
    pub(super) to: f64,
}

struct Tried<'a> {
    load: f64,
    /// `None` if there were too few operations for the percentile.
    met: Option<bool>,
    step: &'a StepSummary,
}

impl Search<'_> {
    pub(super) fn next(&self, done: &[StepSummary]) -> Next {
        let seen: Vec<Tried> = done.iter().filter_map(|step| self.seen(step)).collect();
        if let Some(next) = self.longer(&seen) {
            return next;
        }
        let search = Bisection { from: self.from, to: self.to, grain: 1.0, tolerance: TOLERANCE };
        let trial = |s: &Tried| Some(Trial { load: s.load, met: s.met?, full_length: s.step.point.pass > 0 });
        let trials: Vec<Trial> = seen.iter().filter_map(trial).collect();
        match search.next(&trials) {
            Move::Try(load) => self.at(load, 0),
            Move::Confirm(load) => self.at(load, 1),
            Move::Missed => {
                let trials = self.describe_trials(&seen, self.from);
                Next::Over(format!("not even {} {:.0} meets {}: {trials}", self.key, self.from, self.objective))
            }
            Move::Found { load, beyond } => match lowest_miss(&seen, load).filter(|_| !beyond) {
                Some(miss) => self.settle(&seen, load, miss),
                None => Next::Over(self.found(&seen, load, beyond)),
            },
        }
    }

    /// The answer if `load` and the next one, which missed, differ by more than the noise; else one of them again.
    fn settle(&self, seen: &[Tried], load: f64, miss: f64) -> Next {
        let tried = |at: f64, pass: u32| seen.iter().any(|s| same(s.load, at) && s.step.point.pass == pass);
        if !tried(miss, 1) {
            return self.at(miss, 1);
        }
        if are_apart(self.range(seen, load), self.range(seen, miss)) {
            return Next::Over(self.found(seen, load, false));
        }
        let mut again = (2..=LAST_REPEAT).flat_map(|pass| [(load, pass), (miss, pass)]);
        match again.find(|(at, pass)| !tried(*at, *pass)) {
            Some((at, pass)) => self.at(at, pass),
            None => Next::Over(self.undecided_between(seen, load, miss)),
        }
    }

    /// The least and the greatest figure of the trials at `load`; infinite for a trial that did not keep its rate.
    fn range(&self, seen: &[Tried], load: f64) -> (f64, f64) {
        let here = seen.iter().filter(|s| same(s.load, load) && s.met.is_some());
        let figure = |s: &Tried| s.step.ops.main().and_then(|op| self.objective.figure(op)).unwrap_or(f64::INFINITY);
        here.map(figure).fold((f64::INFINITY, 0.0), |(least, most), figure| (least.min(figure), most.max(figure)))
    }

    /// Two neighbours that the noise does not separate, and the remaining range.
    fn undecided_between(&self, seen: &[Tried], load: f64, miss: f64) -> String {
        let missed = self.range(seen, miss);
        let below = seen.iter().filter(|s| s.load < load && s.met == Some(true)).map(|s| s.load);
        let sure = below.filter(|below| are_apart(self.range(seen, *below), missed)).fold(0.0, f64::max);
        let (key, objective) = (self.key, self.objective);
        let from = if sure > 0.0 { format!("{sure:.0}") } else { format!("below {load:.0}") };
        format!(
            "{key} {from} to {miss:.0}: the highest load that meets {objective} is in this range. {key} {load:.0} and {miss:.0} \
             differ by less than their noise: {}; at {miss:.0} {}",
            self.describe_trials(seen, load),
            self.describe_trials(seen, miss)
        )
    }

    fn at(&self, load: f64, pass: u32) -> Next {
        let values = BTreeMap::from([(self.key.to_owned(), format!("{load:.0}"))]);
        Next::Step(Point { values, pass, drift_check: false })
    }

    fn seen<'a>(&self, step: &'a StepSummary) -> Option<Tried<'a>> {
        let load = step.point.number(self.key)?;
        Some(Tried { load, met: self.objective.is_met_by(&step.ops), step })
    }

    /// A load with too few results, to be tried again for longer.
    fn longer(&self, seen: &[Tried]) -> Option<Next> {
        let known = |load: f64| seen.iter().any(|s| same(s.load, load) && s.met.is_some());
        let unknown = seen.iter().filter(|s| s.met.is_none() && !known(s.load));
        let last = unknown.max_by_key(|s| s.step.point.pass)?;
        let (ops, need) = (last.step.ops.main().map_or(0, |op| op.count), self.objective.min_ops());
        let times = if ops == 0 { f64::INFINITY } else { SPARE * need as f64 / ops as f64 };
        let needed = length_of(last.step.point.pass) * times;
        let longer = (last.step.point.pass + 1..=LONGEST_PASS).find(|pass| length_of(*pass) >= needed);
        if let Some(pass) = longer {
            return Some(self.at(last.load, pass));
        }
        let seconds = last.step.duration_s.filter(|_| ops > 0);
        let enough = seconds.map(|s| format!(": a --duration of {:.0} s and more", s * times));
        Some(Next::Undecided(format!(
            "{} needs {}, and {} did {} in {:.1} s{}",
            self.objective,
            format_counted(need, "operation"),
            self.load_words(last.load),
            format_whole(ops),
            last.step.duration_s.unwrap_or(0.0),
            enough.unwrap_or_default()
        )))
    }

    /// `4 sessions`, or `rate 200` of another key.
    fn load_words(&self, load: f64) -> String {
        let load = load.round() as u64;
        match self.key {
            "sessions" => format_counted(load, "session"),
            key => format!("{key} {}", format_whole(load)),
        }
    }

    fn found(&self, seen: &[Tried], load: f64, beyond: bool) -> String {
        let key = self.key;
        let limit = match lowest_miss(seen, load) {
            _ if beyond => ", the highest tried: the limit lies beyond".to_owned(),
            Some(bound) => format!(", {bound:.0} misses it: the limit lies between"),
            None => String::new(),
        };
        format!(
            "{key} {load:.0} is the highest load that meets {}, confirmed{limit}: {}",
            self.objective,
            self.describe_trials(seen, load)
        )
    }

    /// Results of the trials at `load`, the longest first; both outcomes if they differ.
    fn describe_trials(&self, seen: &[Tried], load: f64) -> String {
        let mut here: Vec<&Tried> = seen.iter().filter(|s| same(s.load, load) && s.met.is_some()).collect();
        here.sort_by_key(|s| std::cmp::Reverse(s.step.point.pass));
        let both = here.iter().any(|s| s.met == Some(true)) && here.iter().any(|s| s.met == Some(false));
        let trials: Vec<_> = here.iter().map(|s| self.figures(s)).collect();
        let words = trials.join("; and ");
        if both { format!("it both met and missed it: {words}") } else { words }
    }

    fn figures(&self, seen: &Tried) -> String {
        let op = seen.step.ops.main();
        let name = format!("p{}", self.objective.percentile);
        let figure = op.and_then(|op| self.objective.figure(op));
        let took = figure.map_or_else(
            || format!("{name} not reported, the rate was not kept"),
            |us| format!("{name} {:.2} ms", us / 1e3),
        );
        let rate = seen.step.blocks_visited_per_s.map(|rate| format!(", {} blocks/s", format_rounded(rate)));
        let (ops, seconds) = (op.map_or(0, |op| op.count), seen.step.duration_s.unwrap_or(0.0));
        let ops = format_counted(ops, "operation");
        format!("{took}{} ({ops} in {seconds:.1} s)", rate.unwrap_or_default())
    }
}

/// Whether the figures of two loads differ by more than those of the load that met the objective. Past saturation, the
/// figures of the other load may vary by more than the loads differ.
fn are_apart(met: (f64, f64), missed: (f64, f64)) -> bool {
    let noise = if met.1.is_finite() { met.1 - met.0 } else { 0.0 };
    missed.0 - met.1 > noise
}

/// The lowest load above `load` that missed the objective.
fn lowest_miss(seen: &[Tried], load: f64) -> Option<f64> {
    let missed = seen.iter().filter(|s| s.load > load && s.met == Some(false)).map(|s| s.load);
    missed.reduce(f64::min)
}

/// Loads are whole numbers.
fn same(one: f64, other: f64) -> bool {
    (one - other).abs() < 0.5
}
