//! Where a figure comes from: its formula, and the counters in it.

use std::fmt::Write as _;

use mindful_analyze::catalogue::{self, Figure};
use mindful_analyze::judgement::claims::{Claim, Held};
use mindful_analyze::judgement::headline::{OTHER_CLAIMS, labels};
use mindful_analyze::judgement::verdict::Limit;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::contract::description::Words;
use mindful_core::plan::settings::nearest;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};

use crate::card::NO_FIGURE;
use crate::escape;
use crate::figure::{format_counted, maybe, number};

const SESSIONS: [&str; 4] = ["by_session", "start_ms", "stop_ms", "ops"];
/// The limit of a step, under its name in the summary and under its former one.
const VERDICT: [&str; 2] = ["limited_by", "verdict"];
/// The figure of a step, its claims and its limit.
const HEADLINE: &str = "headline";

pub fn names() -> impl Iterator<Item = &'static str> {
    catalogue::names().chain(SESSIONS).chain(VERDICT).chain([HEADLINE])
}

/// The meaning of a name.
enum Explained<'a> {
    Verdict,
    Headline,
    Sessions,
    Choice((&'a str, &'a str)),
    Figure(&'static Figure),
}

fn find(name: &str) -> Result<Explained<'_>> {
    let short = name.rsplit('.').next().unwrap_or(name);
    Ok(match choice(name) {
        _ if VERDICT.contains(&short) || is_limit(name) => Explained::Verdict,
        _ if is_headline(name) => Explained::Headline,
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
        Explained::Headline => return Ok(headlines(analysis)),
        Explained::Sessions => return Ok(sessions(analysis)),
        Explained::Choice(choice) => return Ok(choices(choice, analysis)),
        Explained::Figure(figure) => figure,
    };
    let of = format!("{}\n  = {}\n", figure.name(), figure.row.formula);
    Ok(by_step(&of, analysis, |step| format!("{}\n{}", maybe((figure.row.value)(step)), sources(figure, step))))
}

/// The name and the formula, and for each step what `explained` returns for it, from the words after its number on.
fn by_step(of: &str, analysis: &Analysis, explained: impl Fn(&StepAnalysis) -> String) -> String {
    let steps = (1..).zip(&analysis.steps).map(|(number, step)| format!("step {number}: {}", explained(step)));
    std::iter::once(of.to_owned()).chain(steps).collect()
}

/// The share of operations by choice that `name` means: `choices.alone_pct.hot_spot`, `joint_pct.update+hot_spot`.
fn choice(name: &str) -> Option<(&str, &str)> {
    let (path, chosen) = name.rsplit_once('.')?;
    let shares = path.rsplit('.').next()?;
    ["alone_pct", "joint_pct"].contains(&shares).then_some((shares, chosen))
}

fn choices((shares, chosen): (&str, &str), analysis: &Analysis) -> String {
    let (together, name) = (shares == "joint_pct", escape(chosen));
    let those =
        if together { "exactly this set of choices fell together" } else { "this choice fell, alone or with others" };
    let of =
        format!("{shares}.{name}\n  = 100 x operations for which {those} / operations tallied after the warm-up\n");
    by_step(&of, analysis, |step| {
        let choices = step.summary.choices.as_ref();
        let shares = choices.map(|all| if together { &all.joint_pct } else { &all.alone_pct });
        maybe(shares.and_then(|shares| shares.get(chosen).copied())) + "\n"
    })
}

/// Each session: its start, its end, and its work.
fn sessions(analysis: &Analysis) -> String {
    let of = "by_session\n  = begin of a session's first slice and end of its last, after the instant chosen for all to start\n";
    by_step(of, analysis, |step| {
        let Some(sessions) = &step.summary.by_session else { return "unknown\n".to_owned() };
        let mut text = format_counted(sessions.ops.len(), "session") + "\n";
        let times = sessions.start_ms.iter().zip(&sessions.stop_ms);
        for (session, ((start, stop), ops)) in times.zip(&sessions.ops).enumerate() {
            let _ = writeln!(text, "  session {session}: from {start:.3} to {stop:.3} ms, {ops:.0} operations");
        }
        text
    })
}

fn sources(figure: &Figure, step: &StepAnalysis) -> String {
    let mut text = String::new();
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
    text
}

/// The rules of the verdict with their limits, and their input.
fn verdicts(analysis: &Analysis) -> String {
    by_step("verdict\n  = the first rule that matches\n", analysis, |step| {
        let evidence = &step.evidence;
        let limit = step.verdict.as_ref().map(|verdict| escape(&verdict.limit.called(&evidence.words)));
        let mut text = limit.unwrap_or_else(|| "unknown".to_owned()) + "\n";
        for (rule, share, error, limit) in evidence.rules() {
            let error = error.map_or_else(String::new, |error| format!(" (+-{})", number(error)));
            let _ = writeln!(text, "  {}: {}{error}, limit {}", escape(&rule), maybe(share), number(limit));
        }
        text
    })
}

/// Whether a headline may print `name` as the limit of a step.
fn is_limit(name: &str) -> bool {
    // A log has many names: `WAL volume` is a limit, as `redo volume` is.
    let of_log = name.split_once(' ').map_or(name, |(_, rest)| rest);
    let called = |limit: &Limit| limit.called(&Words::new("log", "", ""));
    let is = |known: String| known.eq_ignore_ascii_case(name) || known.eq_ignore_ascii_case(&format!("log {of_log}"));
    Limit::ALL.iter().any(|limit| limit.name().eq_ignore_ascii_case(name) || is(called(limit)))
}

/// Whether a headline may print `name` as its figure, its validity or a claim. Text in brackets may be omitted.
fn is_headline(name: &str) -> bool {
    let is = |known: &str| {
        known.eq_ignore_ascii_case(name) || known.split(" (").next().is_some_and(|k| k.eq_ignore_ascii_case(name))
    };
    let validity = Validity::ALL.map(Validity::name);
    let claims = Claim::ALL.map(Claim::name);
    is(HEADLINE)
        || validity.iter().chain(&claims).chain(&OTHER_CLAIMS).any(|known| is(known))
        || labels().iter().any(|known| is(known))
}

/// The headline of each step, and the basis of each claim.
fn headlines(analysis: &Analysis) -> String {
    let of = "headline\n  = the figure of a step, named by the claims that hold; the result is SUSPECT if a finding is a \
              warning, INVALID if one is an error\n";
    by_step(of, analysis, |step| {
        let mut text = step.headline.as_ref().map_or_else(
            || format!("{NO_FIGURE}\n"),
            |headline| format!("{} {}: {}\n", number(headline.per_s), escape(&headline.label), escape(&headline.why)),
        );
        for claim in Claim::ALL {
            let held = match claim.held(&step.gates) {
                Held::Yes => "holds".to_owned(),
                Held::No(why) => format!("does not hold: {}", escape(&why)),
                Held::Unknown(why) => format!("unknown: {why}"),
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {}: {held}", claim.name());
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_claim_and_limit_of_a_headline_is_known() {
        let claims = Claim::ALL.map(Claim::name).into_iter().chain(OTHER_CLAIMS);
        let called = Limit::ALL.map(|limit| limit.called(&Words::new("WAL", "", "")));
        let limits = Limit::ALL.map(Limit::name);
        let fixed = claims.chain(limits).chain(["VALID", "SUSPECT", "INVALID", "storage IOPS"]);
        let all: Vec<String> = fixed.map(str::to_owned).chain(called).chain(labels()).collect();
        assert!(all.len() > 40, "{all:?}");
        for name in all {
            assert!(known(&name).is_ok(), "{name}");
        }
        assert!(known("storage IOPS of tomorrow").is_err());
    }
}
