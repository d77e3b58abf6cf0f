//! Latency against throughput: the picture by which storage is bought.

use mindful_analyze::{StepAnalysis, curve};
use mindful_core::result::KneeFigure;

use super::ladder::{Figure, Ladder, common_rate, loads, middle, not_drawn, steps};
use crate::card;
use crate::drawing::characters::goes_by_ratio;
use crate::drawing::frame::Heading;
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{ends, format_counted, number, time_us};

pub(crate) const NAME: &str = "latency-iops";
/// The figure of every step, drawn if it has no percentile.
const MEAN: &str = "mean";
/// Share of steps with a percentile from which it is drawn.
const ENOUGH: f64 = 0.8;

/// The chart of all ladders; `None` if no step has both figures.
pub(crate) fn plot(ladders: &[Ladder]) -> Option<Plot> {
    let (rate, rate_name) = rates(ladders)?;
    let (latency, figure, of_p99) = latencies(ladders)?;
    let common = common_operation(ladders);
    let mut latency_name = format!("{figure} of {}", common.as_deref().unwrap_or("an operation"));
    let drawn: Vec<(&Ladder, Series)> =
        ladders.iter().map(|ladder| (ladder, ladder_series(ladder, rate, latency))).collect();
    let drawn: Vec<_> = drawn.into_iter().filter(|(_, series)| !series.points.is_empty()).collect();
    let mut guides = guides(&drawn, of_p99);
    let mut series: Vec<Series> = drawn
        .into_iter()
        .map(|(ladder, series)| match &common {
            Some(_) => series,
            None => Series { name: format!("{}: {}", series.name, operation(ladder)), ..series },
        })
        .collect();
    if figure != MEAN {
        series.extend(ladders.iter().filter_map(|ladder| means(ladder, rate, latency, common.is_none())));
    }
    if let [ladder] = ladders {
        guides.extend(capacity(ladder, rate));
        let medians = ladder_series(ladder, rate, median);
        if let ([p99], false, true) = (series.as_mut_slice(), medians.points.is_empty(), of_p99) {
            "p99".clone_into(&mut p99.name);
            let points = medians.points.into_iter().map(|point| Point { label: String::new(), ..point }).collect();
            series.push(Series { name: "median".into(), points, ..medians });
            latency_name = format!("latency of {}", operation(ladder));
        }
    }
    let ys = series.iter().flat_map(|series| &series.points).map(|point| point.y);
    let [least, most] = ends(ys).unwrap_or_default();
    let loads = loads(ladders);
    (!series.is_empty()).then(|| Plot {
        heading: Heading::new(
            NAME,
            "Latency against throughput",
            format!("Each point is a measured step, labelled with its number of {loads}."),
            notes(ladders, &guides) + &not_drawn(ladders, rate, &rate_name),
        ),
        x: Axis::linear(&rate_name, Unit::Number),
        y: Axis { name: latency_name, unit: Unit::Us, log: goes_by_ratio(least, most) },
        labels: loads,
        series,
        guides,
    })
}

fn notes(ladders: &[Ladder], guides: &[Guide]) -> String {
    let mut text = String::new();
    if ladders.iter().flat_map(|ladder| &ladder.by_load).any(|(_, steps)| steps.len() > 1) {
        text += " Loads measured several times are drawn at their median, with bars from the lowest to the highest.";
    }
    if ladders.iter().any(|ladder| ladder.of_contrast) {
        text += " Raw reads use the database's own files and as many sessions. The distance to the database is the time that it adds.";
    }
    if guides.iter().any(|guide| matches!(guide, Guide::Upright(_, Some(_), _))) {
        text += " The grey band is the 95 % interval of the fitted capacity, which is an estimate.";
    }
    if guides.iter().any(|guide| matches!(guide, Guide::Spot(..))) {
        text += " Beyond the knee, queueing dominates: latency rises faster than throughput.";
    }
    text.trim_start().to_owned()
}

fn ladder_series(ladder: &Ladder, rate: Figure, latency: Figure) -> Series {
    let point = |(load, steps): &(u32, Vec<&StepAnalysis>)| {
        let ((x, wide), (y, high)) = middle(steps, rate).zip(middle(steps, latency))?;
        Some(Point { x, y, label: load.to_string(), wide, high })
    };
    let points = ladder.by_load.iter().filter_map(point).collect();
    Series { name: ladder.name.clone(), look: Look::Curve, points }
}

/// The steps of a ladder with a mean but without `latency`.
fn means(ladder: &Ladder, rate: Figure, latency: Figure, with_operation: bool) -> Option<Series> {
    let unknown = |steps: &[&StepAnalysis]| steps.iter().all(|step| latency(step).is_none());
    let by_load = ladder.by_load.iter().filter(|(_, steps)| unknown(steps)).cloned().collect();
    let series = ladder_series(&Ladder { by_load, name: ladder.name.clone(), ..*ladder }, rate, mean);
    let of = if with_operation { format!(" of {}", operation(ladder)) } else { String::new() };
    (!series.points.is_empty()).then(|| Series {
        name: format!("{}: only the mean{of} is known", series.name),
        look: Look::Dots,
        ..series
    })
}

/// The common horizontal figure of all steps: the figure by which they are compared, if it is the same for all, or else
/// one that most of them have.
fn rates(ladders: &[Ladder]) -> Option<(Figure, String)> {
    let mut labels: Vec<&str> = steps(ladders).filter_map(card::rate).map(|(_, label)| label).collect();
    labels.sort_unstable();
    labels.dedup();
    match labels.as_slice() {
        [] => None,
        [label] => Some((rate, (*label).to_owned())),
        _ => Some(common_rate(ladders)).map(|(rate, name)| (rate, name.to_owned())),
    }
}

fn rate(step: &StepAnalysis) -> Option<f64> {
    card::rate(step).map(|(per_s, _)| per_s)
}

fn throughput(step: &StepAnalysis) -> Option<f64> {
    curve::throughput(&step.summary)
}

pub(crate) fn p99(step: &StepAnalysis) -> Option<f64> {
    step.summary.ops.main()?.p99_us
}

pub(crate) fn median(step: &StepAnalysis) -> Option<f64> {
    step.summary.ops.main()?.p50_us
}

fn mean(step: &StepAnalysis) -> Option<f64> {
    step.summary.ops.main().and_then(|op| op.mean_us).or(step.summary.read_latency_mean_us)
}

/// The highest percentile that most steps have, with its name and whether it is the 99th.
fn latencies(ladders: &[Ladder]) -> Option<(Figure, &'static str, bool)> {
    let all = steps(ladders).filter(|step| step.headline.is_some()).count() as f64;
    let known = |figure: Figure| steps(ladders).filter(|step| figure(step).is_some()).count();
    let choices: [(Figure, &str, bool); 3] =
        [(p99, "99th percentile", true), (median, "median", false), (mean, MEAN, false)];
    let there = |(figure, ..): &(Figure, &str, bool)| known(*figure) > 0;
    let enough = |(figure, ..): &(Figure, &str, bool)| known(*figure) as f64 >= all * ENOUGH;
    choices.into_iter().find(|choice| there(choice) && enough(choice)).or_else(|| choices.into_iter().find(there))
}

/// The timed operation of all ladders; `None` if it differs.
fn common_operation(ladders: &[Ladder]) -> Option<String> {
    let mut all: Vec<String> = ladders.iter().map(operation).collect();
    all.dedup();
    if let [one] = all.as_slice() { Some(one.clone()) } else { None }
}

/// The timed operation of a ladder, in words.
fn operation(ladder: &Ladder) -> String {
    let steps = || ladder.by_load.iter().flat_map(|(_, steps)| steps.iter().copied());
    let Some(first) = steps().next() else { return "an operation".to_owned() };
    if first.summary.ops.main().is_none() {
        return "a read, as the database reported it".to_owned();
    }
    let name = match first.summary.ops.select {
        _ if ladder.of_contrast => "a read",
        Some(_) => "a select",
        None => "an update",
    };
    match first.summary.work_unit.filter(|unit| steps().all(|step| step.summary.work_unit == Some(*unit))) {
        Some(unit) => format!("{name} of {}", format_counted(unit, "block")),
        None => name.to_owned(),
    }
}

fn guides(drawn: &[(&Ladder, Series)], of_p99: bool) -> Vec<Guide> {
    let mut guides = Vec::new();
    for (ladder, series) in drawn {
        let Some((knee, sessions)) = ladder.knee.and_then(|knee| Some((knee, knee.asymptote_sessions?))) else {
            continue;
        };
        if let Some((x, y)) = on_curve(&series.points, sessions) {
            let between = knee.intervals.get(KneeFigure::AsymptoteSessions.name());
            let between = between.map(|[low, high]| format!(" ({} to {})", number(*low), number(*high)));
            let name = format!("knee: {} sessions{}", number(sessions), between.unwrap_or_default());
            guides.push(Guide::Spot(x, y, name));
        }
    }
    let mut limits: Vec<f64> = drawn.iter().filter_map(|(ladder, _)| ladder.p99_limit_us).filter(|_| of_p99).collect();
    limits.sort_by(f64::total_cmp);
    limits.dedup();
    guides.extend(limits.into_iter().map(|us| Guide::Level(us, format!("objective: p99 up to {}", time_us(us)))));
    guides
}

/// The fitted capacity, if it is of the drawn figure.
fn capacity(ladder: &Ladder, rate: Figure) -> Option<Guide> {
    let knee = ladder.knee.filter(|knee| knee.model.is_some())?;
    let same =
        |step: &&StepAnalysis| rate(step).zip(throughput(step)).is_none_or(|(a, b)| (a - b).abs() <= 0.001 * b.abs());
    let drawn = ladder.by_load.iter().flat_map(|(_, steps)| steps).all(same);
    let most = knee.max_per_s.filter(|_| drawn)?;
    Some(Guide::Upright(most, knee.intervals.get("max_per_s").copied(), format!("fitted capacity {}", number(most))))
}

/// Where a number of sessions between two measured ones lies on the drawn line.
fn on_curve(points: &[Point], sessions: f64) -> Option<(f64, f64)> {
    let load = |point: &Point| point.label.parse::<f64>().ok();
    points.windows(2).find_map(|pair| {
        let (low, high) = (load(&pair[0])?, load(&pair[1])?);
        if !(low..=high).contains(&sessions) || low >= high {
            return None;
        }
        let share = (sessions - low) / (high - low);
        let between = |a: f64, b: f64| a + (b - a) * share;
        Some((between(pair[0].x, pair[1].x), between(pair[0].y, pair[1].y)))
    })
}
