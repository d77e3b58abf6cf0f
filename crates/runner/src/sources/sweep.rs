//! Chooses the next step of a sweep from its settings and its stored steps. Other state is not kept, so a killed sweep
//! continues from its run folder.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mindful_core::contract::Resolved;
use mindful_core::contract::engine::Engine;
use mindful_core::plan::settings::{Key, Origin, Settings, ValueSyntax};
use mindful_core::plan::sweep::{Objective, SweepPlan};
use mindful_core::plan::units::format_counted;
use mindful_core::plan::{self, Plan};
use mindful_core::record::run::{Point, values_in_words};
use mindful_core::result::StepSummary;
use mindful_core::{Error, Result};

use crate::sources::estimate::{Estimate, step_time};
use crate::sources::ladder::{self, Adaptive, Axis, Budgeted, Measured, Slot, Values};
use search::{REPEATS, Search, length_of};

mod search;

pub(crate) use search::Next;

/// Most points of a grid: more are a mistake.
const MOST_POINTS: usize = 10_000;
/// Default of the highest load tried.
const MOST_SESSIONS: u32 = 256;
/// Halvings of the logarithm from a doubling down to the tolerance.
const HALVINGS: u32 = 4;

pub struct Sweep {
    /// The first point; every point is this one with its values.
    pub base: Resolved,
    engine: &'static dyn Engine,
    /// The points that are known before anything runs.
    known: BTreeMap<BTreeMap<String, String>, Resolved>,
    plan: SweepPlan,
    seed: u64,
    step_cost: Duration,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    /// Points known from the start, and the steps at them that the budget holds.
    Fixed {
        points: Vec<BTreeMap<String, String>>,
        steps: Budgeted,
    },
    /// A ladder of sessions that chooses its own steps, for each combination of values of the other keys.
    Adaptive {
        others: Vec<BTreeMap<String, String>>,
        from: u32,
        to: u32,
    },
    Search {
        objective: Objective,
        key: String,
        from: f64,
        to: f64,
    },
}

impl Sweep {
    /// The sweep that `settings` describe, on a target of `engine`; `keys` are all that may be a ladder.
    pub fn new(settings: &Settings, keys: &[&Key], engine: &'static dyn Engine) -> Result<Self> {
        let plan = SweepPlan::from_settings(settings)?;
        let (base, mut axes) = axes(settings, keys)?;
        let base = Resolved::parse(engine, base)?;
        let range = axes.iter().find(|(key, _)| key == "sessions").and_then(|(_, values)| match values {
            Values::Range(from, to) => Some((*from, *to)),
            Values::List(_) => None,
        });
        let step_cost = step_time(&base.plan);
        let shape = if let Some(objective) = plan.objective {
            search(objective, &axes)?
        } else if axes.is_empty() || range.is_some() {
            axes.retain(|(key, _)| key != "sessions");
            let (from, to) = range.unwrap_or((1, MOST_SESSIONS.into()));
            Shape::Adaptive { others: points(&axes, plan.paired)?, from: sessions(from)?, to: sessions(to)? }
        } else {
            fixed(points(&axes, plan.paired)?, &plan, base.plan.seed, step_cost)
        };
        let seed = base.plan.seed;
        let mut sweep = Self { base, engine, known: BTreeMap::new(), plan, seed, step_cost, shape };
        // A mistyped value is reported before anything runs, not hours later.
        for values in sweep.known_points() {
            let resolved = sweep.base.with_values(engine, &values)?;
            sweep.known.insert(values, resolved);
        }
        Ok(sweep)
    }

    /// All points that are known before anything runs; of a range, both ends.
    fn known_points(&self) -> Vec<BTreeMap<String, String>> {
        let at = |values: &BTreeMap<String, String>, key: &str, value: String| {
            let mut values = values.clone();
            values.insert(key.to_owned(), value);
            values
        };
        match &self.shape {
            Shape::Fixed { points, .. } => points.clone(),
            Shape::Adaptive { others, from, to } => {
                others.iter().flat_map(|o| [from, to].map(|n| at(o, "sessions", n.to_string()))).collect()
            }
            Shape::Search { key, from, to, .. } => {
                [from, to].map(|load| at(&BTreeMap::new(), key, load.to_string())).into()
            }
        }
    }

    /// Plan and options at `point`; a short trial of a search measures a part of the duration.
    pub(crate) fn resolve(&self, point: &Point) -> Result<Resolved> {
        let known = self.known.get(&point.values).cloned();
        let mut resolved = known.map_or_else(|| self.base.with_values(self.engine, &point.values), Ok)?;
        if matches!(self.shape, Shape::Search { .. }) {
            resolved.plan.duration = resolved.plan.duration.mul_f64(length_of(point.pass));
        }
        Ok(resolved)
    }

    pub(crate) fn budget(&self) -> Option<Duration> {
        self.plan.budget
    }

    pub(crate) fn step_cost(&self) -> Duration {
        self.step_cost
    }

    /// Whether its points differ in more than their load.
    pub(crate) fn differs(&self) -> bool {
        let points = match &self.shape {
            Shape::Fixed { points, .. } => points,
            Shape::Adaptive { others, .. } => others,
            Shape::Search { .. } => return false,
        };
        points.iter().flat_map(BTreeMap::keys).any(|key| key != "sessions" && key != "rate")
    }

    /// The next step after those `done`, in the order they ran; `left` is the number of steps in the remaining budget.
    pub(crate) fn next(&self, done: &[StepSummary], left: Option<u32>) -> Next {
        let next = match &self.shape {
            Shape::Fixed { points, steps } => next_fixed(points, &steps.keep, done),
            Shape::Adaptive { others, from, to } => self.next_adaptive(others, *from, *to, done, left),
            Shape::Search { objective, key, from, to } => {
                Search { objective: *objective, key, from: *from, to: *to }.next(done)
            }
        };
        match next {
            Next::Step(point) if left == Some(0) => Next::Over(format!(
                "the budget is used up; the next would have been {}",
                values_in_words(&point.values)
            )),
            next => next,
        }
    }

    /// The number of steps and their duration; the maximum if that is found on the way.
    pub(crate) fn estimate(&self) -> Estimate {
        let most = |count: u32, time| Estimate { what: "step", count, time, at_most: true };
        let whole = match &self.shape {
            Shape::Fixed { points, steps } => Estimate::of("step", &self.plans(points, &steps.keep)),
            Shape::Adaptive { others, from, to } => {
                let once = Adaptive { from: *from, to: *to, seed: self.seed }.most_steps();
                let count = once * others.len() as u32 + (once - 1) * others.len() as u32 * (self.plan.repeat - 1);
                most(count, self.step_cost.saturating_mul(count))
            }
            Shape::Search { from, to, .. } => {
                let doublings = (to / from).max(1.0).log2().ceil() as u32 + 1;
                let count = doublings + HALVINGS;
                let short = Duration::from_secs_f64(self.step_cost.as_secs_f64() * length_of(0));
                let full = Duration::from_secs_f64(self.step_cost.as_secs_f64() * (1.0 + REPEATS));
                most(count + 4, short.saturating_mul(count).saturating_add(full))
            }
        };
        let budget = self.plan.budget.unwrap_or(Duration::MAX);
        Estimate { time: whole.time.min(budget), at_most: whole.at_most || whole.time > budget, ..whole }
    }

    fn plans(&self, points: &[BTreeMap<String, String>], slots: &[Slot]) -> Vec<Plan> {
        let at = |slot: &Slot| {
            let point = Point { values: points[slot.point].clone(), ..Point::default() };
            self.resolve(&point).map(|resolved| resolved.plan)
        };
        slots.iter().filter_map(|slot| at(slot).ok()).collect()
    }

    /// The points that exceed the budget, in words; `None` if all fit, or if the steps are not known in advance.
    pub(crate) fn left_out(&self) -> Option<String> {
        let Shape::Fixed { points, steps } = &self.shape else { return None };
        let names: Vec<_> = steps.left_out.iter().map(|slot| values_in_words(&points[slot.point])).collect();
        (!names.is_empty())
            .then(|| format!("the budget leaves out {}: {}", format_counted(names.len(), "step"), names.join("; ")))
    }

    fn next_adaptive(
        &self,
        others: &[BTreeMap<String, String>],
        from: u32,
        to: u32,
        done: &[StepSummary],
        left: Option<u32>,
    ) -> Next {
        let order = ladder::schedule(others.len(), 1, None, self.seed);
        let mut cut_short = Vec::new();
        for (at, slot) in order.iter().enumerate() {
            let values = &others[slot.point];
            let ladder = Adaptive { from, to, seed: self.seed ^ slot.point as u64 };
            let own = done.iter().filter(|d| d.point.pass == 0 && d.point.without_sessions() == *values);
            let measured: Vec<Measured> = own.map(measured).collect();
            // The budget is shared evenly by the ladders that are not yet done; this one has taken its part of it.
            let taken = measured.len() as u32;
            let share = left.map(|left| (left + taken).div_ceil((order.len() - at) as u32).saturating_sub(taken));
            if let Some(next) = ladder.next(&measured, share) {
                return Next::Step(at_sessions(values, next.sessions, next.drift_check));
            }
            if let Some(next) = ladder.next(&measured, None) {
                cut_short.push(values_in_words(&at_sessions(values, next.sessions, false).values));
            }
        }
        if cut_short.is_empty() {
            self.next_repetition(done)
        } else {
            Next::Over(format!(
                "the budget is used up; the steps that follow from {} are omitted",
                cut_short.join(" and from ")
            ))
        }
    }

    /// Repeats all points of the ladders in a new order, up to the requested number of passes.
    fn next_repetition(&self, done: &[StepSummary]) -> Next {
        let mut known = BTreeSet::new();
        let once = done.iter().map(|d| &d.point).filter(|p| p.pass == 0 && !p.drift_check);
        let found: Vec<&Point> = once.filter(|point| known.insert(&point.values)).collect();
        let slots = ladder::schedule(found.len(), self.plan.repeat, None, self.seed);
        let wanted = |slot: &Slot| Point { pass: slot.pass, ..found[slot.point].clone() };
        let done: BTreeSet<&Point> = done.iter().map(|d| &d.point).collect();
        let missing = |point: &Point| !done.contains(point);
        match slots.iter().filter(|slot| slot.pass > 0).map(wanted).find(missing) {
            Some(point) => Next::Step(point),
            None => Next::Over("the ladder is done".to_owned()),
        }
    }
}

/// All steps at `points`, as far as the budget holds them.
fn fixed(points: Vec<BTreeMap<String, String>>, plan: &SweepPlan, seed: u64, step_cost: Duration) -> Shape {
    // Point 0 once more at the end exposes drift.
    let slots = ladder::schedule(points.len(), plan.repeat, (points.len() > 1).then_some(0), seed);
    let steps = ladder::within(plan.budget.unwrap_or(Duration::MAX), &slots, |_| step_cost);
    Shape::Fixed { points, steps }
}

fn next_fixed(points: &[BTreeMap<String, String>], slots: &[Slot], done: &[StepSummary]) -> Next {
    let done: BTreeSet<&Point> = done.iter().map(|step| &step.point).collect();
    let wanted =
        |slot: &Slot| Point { values: points[slot.point].clone(), pass: slot.pass, drift_check: slot.drift_check };
    match slots.iter().map(wanted).find(|point| !done.contains(point)) {
        Some(point) => Next::Step(point),
        None => Next::Over("all points are measured".to_owned()),
    }
}

fn measured(done: &StepSummary) -> Measured {
    Measured { sessions: done.sessions.unwrap_or(0), throughput: done.blocks_visited_per_s.unwrap_or(0.0) }
}

fn at_sessions(others: &BTreeMap<String, String>, sessions: u32, drift_check: bool) -> Point {
    Point { values: others.clone(), pass: 0, drift_check }.with_sessions(sessions)
}

/// Splits settings into those of the first point and the keys that vary.
fn axes(settings: &Settings, keys: &[&Key]) -> Result<(Settings, Vec<(String, Values)>)> {
    let (mut base, mut axes) = (settings.clone(), Vec::new());
    for key in keys {
        let Some(text) = settings.given_text(key.name) else { continue };
        let Some(values) = ladder_of(key, text).map_err(|error| error.at(settings.describe_place(key.name)))? else {
            continue;
        };
        let first = values.all().first().cloned().unwrap_or_default();
        let set = settings.iter().find(|(name, _)| *name == key.name);
        base.set(key.name, first, set.map_or(Origin::Default, |(_, setting)| setting.origin.clone()));
        axes.push((key.name.to_owned(), values));
    }
    Ok((base, axes))
}

fn ladder_of(key: &Key, text: &str) -> Result<Option<Values>> {
    match key.syntax {
        ValueSyntax::Single => Ok(None),
        ValueSyntax::Setting => Ok(of_setting(text)),
        ValueSyntax::List => Values::parse(text),
    }
}

/// `NAME=8MB,256MB`: one setting of the target with several values. `OTHER=1,NAME=8MB|256MB`: the same together with
/// other settings; several lists of values give all combinations.
fn of_setting(text: &str) -> Option<Values> {
    if text.contains('|') {
        let all = text.split(',').fold(vec![String::new()], |texts, part| {
            let (name, values) = part.split_once('=').map_or(("", part), |(name, values)| (name, values));
            let with = |text: &String| {
                let (comma, text) = (if text.is_empty() { "" } else { "," }, text.clone());
                let equals = if name.is_empty() { "" } else { "=" };
                values.split('|').map(move |value| format!("{text}{comma}{name}{equals}{}", value.trim()))
            };
            texts.iter().flat_map(with).collect::<Vec<_>>()
        });
        return Some(Values::List(all));
    }
    let (name, values) = text.split_once('=')?;
    let several = values.contains(',') && !values.contains('=');
    several.then(|| Values::List(values.split(',').map(|value| format!("{name}={}", value.trim())).collect()))
}

fn sessions(count: u64) -> Result<u32> {
    u32::try_from(count).map_err(|_| {
        Error::plan(format!("--sessions: `{count}` is out of range"), format!("give 1 to {}", plan::MOST_SESSIONS))
    })
}

fn points(axes: &[(String, Values)], paired: bool) -> Result<Vec<BTreeMap<String, String>>> {
    let grid = axes.iter().try_fold(1_usize, |points, (_, values)| points.checked_mul(values.all().len()));
    if !paired && grid.is_none_or(|points| points > MOST_POINTS) {
        let keys: Vec<&str> = axes.iter().map(|(key, _)| key.as_str()).collect();
        return Err(Error::plan(
            format!("the full grid of {} has more than {MOST_POINTS} points", keys.join(", ")),
            "pass fewer values, or --paired",
        ));
    }
    let axes: Vec<Axis> = axes.iter().map(|(key, values)| (key.clone(), values.all())).collect();
    if paired { ladder::paired(&axes) } else { Ok(ladder::full_grid(&axes)) }
}

fn search(objective: Objective, axes: &[(String, Values)]) -> Result<Shape> {
    let (key, from, to) = match axes {
        [] => ("sessions", 1, u64::from(MOST_SESSIONS)),
        [(key, Values::Range(from, to))] if key == "sessions" || key == "rate" => (key.as_str(), *from, *to),
        _ => {
            return Err(Error::plan(
                "a search for an objective varies one load",
                "pass --sessions FROM..TO or --rate FROM..TO with --max-iops-at, and no other ladder",
            ));
        }
    };
    Ok(Shape::Search { objective, key: key.to_owned(), from: from as f64, to: to as f64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_has_several_values_alone_or_next_to_others() {
        let values = |text: &str| of_setting(text).map(|values| values.all());
        assert_eq!(values("io_method=sync,worker").unwrap(), ["io_method=sync", "io_method=worker"]);
        assert_eq!(values("work_mem=8MB,debug_io_direct=data,wal"), None, "one value: a list belongs to its setting");
        assert_eq!(
            values("io_method=worker,io_workers=1|8").unwrap(),
            ["io_method=worker,io_workers=1", "io_method=worker,io_workers=8"]
        );
        let both = values("a=1|2,debug_io_direct=data,wal,b=3|4").unwrap();
        assert_eq!(both.len(), 4);
        assert_eq!(both[1], "a=1,debug_io_direct=data,wal,b=4");
    }
}
