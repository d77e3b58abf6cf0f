//! Where a figure comes from: its formula, and the counters in it.

mod headline;

use std::fmt::Write as _;

use mindful_analyze::catalogue::{self, Figure};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};

use crate::escape;
use crate::figure::{format_counted, maybe, number};

const SESSIONS: [&str; 4] = ["by_session", "start_ms", "stop_ms", "ops"];
/// The limit of a step, under its name in the summary and under its former one.
const VERDICT: [&str; 2] = ["limited_by", "verdict"];

pub fn names() -> impl Iterator<Item = &'static str> {
    catalogue::names().chain(SESSIONS).chain(VERDICT).chain([headline::NAME])
}

/// The meaning of a name.
enum Explained<'a> {
    Verdict,
    Headline,
    Sessions,
    Choice(Choice<'a>),
    Figure(&'static Figure),
}

fn find(name: &str) -> Result<Explained<'_>> {
    let short = name.rsplit('.').next().unwrap_or(name);
    Ok(match Choice::parse(name) {
        _ if VERDICT.contains(&short) || headline::is_limit(name) => Explained::Verdict,
        _ if headline::is_name(name) => Explained::Headline,
        Some(choice) => Explained::Choice(choice),
        None if SESSIONS.contains(&short) => Explained::Sessions,
        None => Explained::Figure(catalogue::find(name).ok_or_else(|| unknown(name))?),
    })
}

fn unknown(name: &str) -> Error {
    let next = match nearest(name, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("choose {}", names().collect::<Vec<_>>().join(", ")),
    };
    Error::plan(format!("no figure is called `{}`", escape(name)), next)
}

pub fn known(name: &str) -> Result<()> {
    find(name).map(drop)
}

/// Explains the figure `name` for every step; names such as `cpu.db_cores` may include their path.
pub fn figure(name: &str, analysis: &Analysis) -> Result<String> {
    let figure = match find(name)? {
        Explained::Verdict => return Ok(verdicts(analysis)),
        Explained::Headline => return Ok(headline::explained(analysis)),
        Explained::Sessions => return Ok(sessions(analysis)),
        Explained::Choice(choice) => return Ok(choice.explained(analysis)),
        Explained::Figure(figure) => figure,
    };
    let mut text = format!("{}\n  = {}\n", figure.name(), figure.row.formula);
    for (number, step) in (1..).zip(&analysis.steps) {
        let _ = writeln!(text, "step {number}: {}", maybe((figure.row.value)(step)));
        sources(&mut text, figure, step);
    }
    Ok(text)
}

/// A share of the operations by choice: `choices.alone_pct.hot_spot`, `joint_pct.update+hot_spot`.
struct Choice<'a> {
    together: bool,
    chosen: &'a str,
}

impl<'a> Choice<'a> {
    fn parse(name: &'a str) -> Option<Self> {
        let (path, chosen) = name.rsplit_once('.')?;
        match path.rsplit('.').next()? {
            "alone_pct" => Some(Self { together: false, chosen }),
            "joint_pct" => Some(Self { together: true, chosen }),
            _ => None,
        }
    }

    fn explained(&self, analysis: &Analysis) -> String {
        let (shares, those) = if self.together {
            ("joint_pct", "exactly this set of choices fell together")
        } else {
            ("alone_pct", "this choice fell, alone or with others")
        };
        let chosen = escape(self.chosen);
        let mut text = format!(
            "{shares}.{chosen}\n  = 100 x operations for which {those} / operations tallied after the warm-up\n"
        );
        for (number, step) in (1..).zip(&analysis.steps) {
            let share = step.summary.choices.as_ref().and_then(|choices| {
                if self.together { &choices.joint_pct } else { &choices.alone_pct }.get(self.chosen).copied()
            });
            let _ = writeln!(text, "step {number}: {}", maybe(share));
        }
        text
    }
}

/// Each session: its start, its end, and its work.
fn sessions(analysis: &Analysis) -> String {
    let mut text = String::from(
        "by_session\n  = begin of a session's first slice and end of its last, after the instant chosen for all to start\n",
    );
    for (number, step) in (1..).zip(&analysis.steps) {
        let Some(sessions) = &step.summary.by_session else {
            let _ = writeln!(text, "step {number}: unknown");
            continue;
        };
        let _ = writeln!(text, "step {number}: {}", format_counted(sessions.ops.len(), "session"));
        let times = sessions.start_ms.iter().zip(&sessions.stop_ms);
        for (session, ((start, stop), ops)) in times.zip(&sessions.ops).enumerate() {
            let _ = writeln!(text, "  session {session}: from {start:.3} to {stop:.3} ms, {ops:.0} operations");
        }
    }
    text
}

fn sources(text: &mut String, figure: &Figure, step: &StepAnalysis) {
    if let (Some(window), true) = (&step.window, figure.row.counters.is_empty()) {
        let (first, last) = (window.first_boundary, window.last_boundary);
        let _ = writeln!(text, "  slices of boundary {first} to {last}, {:.2} s", window.seconds());
    }
    for name in figure.row.counters.iter().copied() {
        match step.counters.find(name) {
            Some(change) => {
                let grew = maybe(change.delta);
                let (source, unit) = (escape(&change.source), escape(&change.unit));
                let [from, to] = change.readings.map(|raw| raw.map_or_else(|| "unknown".to_owned(), |v| v.to_string()));
                let span = change.seconds;
                let _ = writeln!(text, "  {source}: {name} from {from} to {to} {unit}: {grew} in {span:.2} s");
            }
            None => {
                let _ = writeln!(text, "  {name}: no source counts it");
            }
        }
    }
}

/// The rules of the verdict with their limits, and their input.
fn verdicts(analysis: &Analysis) -> String {
    let mut text = String::from("verdict\n  = the first rule that matches\n");
    for (step_number, step) in (1..).zip(&analysis.steps) {
        let evidence = &step.evidence;
        let limit =
            step.verdict.as_ref().map_or_else(|| "unknown".to_owned(), |v| escape(&v.limit.called(&evidence.words)));
        let _ = writeln!(text, "step {step_number}: {limit}");
        for (rule, share, error, limit) in evidence.rules() {
            let error = error.map_or_else(String::new, |error| format!(" (+-{})", number(error)));
            let _ = writeln!(text, "  {}: {}{error}, limit {}", escape(&rule), maybe(share), number(limit));
        }
    }
    text
}
