//! Steps that belong together as a run: a folder of reports is a ladder over sessions.

use std::collections::BTreeMap;

use jiff::Timestamp;
use mindful_core::Error;
use mindful_core::contract::description::{Description, HostView};
use mindful_core::contract::event::Event;
use mindful_core::record::run::{Imported, Point, StepHead};
use mindful_core::result::finding::{Finding, codes};

use crate::formats::orion::{self, LatencyUnit};
use crate::old_step::{MOST_SESSIONS, OldStep};

#[derive(Debug, Clone, PartialEq)]
pub struct OldRun {
    /// The measured system: the name of an engine.
    pub engine: &'static str,
    pub target: String,
    pub imported: Imported,
    /// Start time, RFC 3339; `None` without a date.
    pub began: Option<String>,
    pub events: Vec<Event>,
    /// The file of each step.
    pub step_files: Vec<String>,
}

/// Groups steps into runs by their targets: those with a known number of sessions are a ladder, the others a table in
/// the order of time. Also returns late errors. `unit` is the unit of Orion's latencies if a file has none.
pub fn runs(mut steps: Vec<OldStep>, unit: Option<LatencyUnit>) -> (Vec<OldRun>, Vec<Error>) {
    let (joined, refused) = orion::join(&mut steps, unit);
    let mut groups: BTreeMap<_, Vec<OldStep>> = BTreeMap::new();
    for mut step in steps.into_iter().chain(joined) {
        step.sessions = step.sessions.filter(|sessions| (1..=MOST_SESSIONS).contains(sessions));
        groups.entry((step.engine, step.target.clone(), step.what, step.series.clone())).or_default().push(step);
    }
    let runs = groups.into_values().flat_map(|steps| {
        let (ladder, table): (Vec<_>, Vec<_>) = steps.into_iter().partition(|step| step.sessions.is_some());
        [ladder, table]
    });
    (runs.filter_map(run).collect(), refused)
}

fn run(mut steps: Vec<OldStep>) -> Option<OldRun> {
    tell_apart(&mut steps);
    steps.sort_by_key(|step| (step.point.clone(), step.sessions, step.began_us));
    let many = steps.len() > 1;
    if let Some(first) = steps.first_mut().filter(|step| many && step.sessions.is_none()) {
        let text = "The number of sessions is not known: the steps are in the order of time, without a curve. Import the files \
                    again under names with their sessions, such as awr.txt.8, or with --sessions 1,2,4.";
        first.add_finding(codes::IMPORTED_FIGURES, text, first.file.clone());
    }
    let first = steps.first()?;
    let mut old = OldRun {
        engine: first.engine,
        target: first.target.clone(),
        imported: Imported { what: first.what.to_owned(), files: Vec::new() },
        began: steps.iter().filter_map(|step| step.began_us).min().and_then(instant),
        events: vec![Event::Environment { facts: first.host.clone() }, described(first)],
        step_files: Vec::new(),
    };
    let mut passes: BTreeMap<BTreeMap<String, String>, u32> = BTreeMap::new();
    for (number, step) in (0..).zip(steps) {
        let mut values = step.point;
        match step.sessions {
            _ if !many => {}
            Some(sessions) => drop(values.insert("sessions".to_owned(), sessions.to_string())),
            None => {
                let name = step.file.rsplit('/').next().unwrap_or(&step.file);
                values.insert("report".to_owned(), name.to_owned());
            }
        }
        let pass = passes.entry(values.clone()).and_modify(|pass| *pass += 1).or_default();
        let point = Point { values, pass: *pass, drift_check: false };
        // Where its sessions worked is not known.
        let head = StepHead { step: number, sessions: step.sessions, point, ..StepHead::default() };
        old.events.push(Event::Step(head));
        old.events.extend(step.events);
        old.events.push(Event::StepEnd { error: step.error, interrupted: false });
        let place = if many { format!("step {}: ", number + 1) } else { String::new() };
        let of_step = |finding: Finding| Finding { evidence: format!("{place}{}", finding.evidence), ..finding };
        old.events.extend(step.findings.into_iter().map(of_step).map(Event::Finding));
        old.step_files.push(step.file.clone());
        for file in std::iter::once(step.file).chain(step.more_files) {
            if !old.imported.files.contains(&file) {
                old.imported.files.push(file);
            }
        }
    }
    old.events.push(Event::Finished { interrupted: false, error: None });
    Some(old)
}

/// Adds differing options of steps to their varied settings.
fn tell_apart(steps: &mut [OldStep]) {
    let mut values: BTreeMap<String, Vec<Option<String>>> = BTreeMap::new();
    for key in steps.iter().flat_map(|step| step.options.keys()) {
        values.entry(key.clone()).or_insert_with(|| steps.iter().map(|step| step.options.get(key).cloned()).collect());
    }
    values.retain(|_, values| values.iter().any(|value| *value != values[0]));
    for (key, values) in values {
        for (step, value) in steps.iter_mut().zip(values) {
            step.point.extend(value.map(|value| (key.clone(), value)));
        }
    }
}

fn instant(us: i64) -> Option<String> {
    Some(format!("{:.3}", Timestamp::from_microsecond(us).ok()?))
}

fn described(step: &OldStep) -> Event {
    let description = Description {
        words: step.words.clone(),
        engine_version: step.version.clone().unwrap_or_else(|| "of unknown version".to_owned()),
        block_bytes: step.block_bytes.unwrap_or(0),
        cache_bytes: step.cache_bytes,
        endpoints: 1,
        facts: step.facts.clone(),
        ..Description::default()
    };
    Event::Described { description, host: HostView::default() }
}
