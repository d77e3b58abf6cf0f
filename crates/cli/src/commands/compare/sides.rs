//! The two sides of a comparison: found in the store or measured, and whether their runs may be quoted.

use clap::ArgMatches;
use mindful_core::result::{Severity, Summary, Validity};
use mindful_core::settings::Settings;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::repetition::{self, Side};
use serde::Serialize;

use crate::{args, context, layers};

/// Whether a run may be quoted, and what speaks against it.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// Its id.
    pub id: String,
    /// Valid, suspect or invalid.
    pub validity: Validity,
    /// Codes of the findings that made it so, each once.
    pub because: Vec<String>,
    /// Path of the plan file that it was made by without being told to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
}

/// How the runs of a side stand, in their order.
pub fn standing(side: &Side) -> Vec<Standing> {
    side.iter().map(|(_, analysis)| of(&analysis.summary)).collect()
}

/// How one run stands.
pub fn of(summary: &Summary) -> Standing {
    let mut because: Vec<String> = Vec::new();
    for finding in summary.findings.iter().filter(|f| f.severity >= Severity::Warning) {
        if !because.contains(&finding.code) {
            because.push(finding.code.clone());
        }
    }
    Standing { id: summary.id.clone(), validity: summary.validity, because, plan_file: summary.plan_file.clone() }
}

/// Refuses sides that hold a run which is not what was asked for: its figures would decide the verdict unseen.
///
/// # Errors
/// The first invalid run, with what makes it so.
pub fn refuse_invalid(baseline: &Side, candidate: &Side) -> Result<()> {
    for (name, side) in [("baseline", baseline), ("candidate", candidate)] {
        let Some((_, analysis)) = side.iter().find(|(_, a)| a.summary.validity == Validity::Invalid) else { continue };
        let summary = &analysis.summary;
        let worst = summary.findings.iter().find(|f| f.severity == Severity::Error);
        let reason = worst.map_or_else(|| "it did not end".to_owned(), |f| format!("{}, {}", f.code, f.evidence));
        return Err(Error::plan(
            format!("run {} of the {name} is invalid ({reason})", summary.id),
            "leave it out or measure it anew, or give --force to use its figures",
        ));
    }
    Ok(())
}

/// The runs that a side names, by id, prefix or tag; a tag names all runs that bear it.
pub fn named(matches: &ArgMatches, side: &str, store: &Store) -> Result<Side> {
    let names: Vec<&String> = matches.get_many(side).map(Iterator::collect).unwrap_or_default();
    if names.is_empty() {
        return Err(Error::plan(
            format!("the {side} has no run"),
            format!("give --{side} RUN…, or two plans with --run A.toml B.toml"),
        ));
    }
    let mut side = Side::new();
    for name in names {
        let tagged = |run: &mindful_record::Listed| {
            run.head.as_ref().is_some_and(|head| head.plan.tag.as_deref() == Some(name.as_str()))
        };
        let mut ids: Vec<String> = store.list()?.into_iter().filter(tagged).map(|run| run.id).collect();
        if ids.is_empty() {
            ids.push(store.resolve(name)?);
        }
        for id in ids {
            side.push(repetition::judged(store, &id)?);
        }
    }
    Ok(side)
}

/// Runs two plans in turn, A B B A, so that drift hits both alike.
pub fn measured(a: &str, b: &str, matches: &ArgMatches, store: &Store) -> Result<(Side, Side)> {
    let repeat = args::repetitions(matches, 1, 5)?;
    let plans: [Settings; 2] = [layers::of_file(a)?, layers::of_file(b)?];
    let mut sides = [Side::new(), Side::new()];
    for pass in 0..repeat {
        let order = if pass % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let context = context::with(plans[side].clone(), Store::open(store.root()))?;
            sides[side].push(repetition::run(&context)?);
        }
    }
    let [baseline, candidate] = sides;
    Ok((baseline, candidate))
}
