//! The two sides of a comparison: found in the store or measured, and whether their runs may be quoted.

use clap::ArgMatches;
use mindful_analyze::compare::{Gate, Side, Sides, can_tell, runs_to_tell};
use mindful_core::plan::settings::Settings;
use mindful_core::result::{Severity, Validity};
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::estimate::Estimate;
use mindful_runner::repetition;

use crate::args::flags;
use crate::runs::Runs;
use crate::{context, layers, noise};

/// Refuses sides that hold a run which is not what was asked for: its figures would decide the verdict unseen.
///
/// # Errors
/// The first invalid run, with what makes it so.
pub(crate) fn refuse_invalid(baseline: &Side, candidate: &Side) -> Result<()> {
    for (name, side) in [("baseline", baseline), ("candidate", candidate)] {
        let Some((_, analysis)) = side.iter().find(|(_, a)| a.summary.validity == Validity::Invalid) else { continue };
        let summary = &analysis.summary;
        let worst = summary.findings.iter().find(|f| f.severity == Severity::Error);
        let reason = worst.map_or_else(|| "it did not finish".to_owned(), |f| format!("{}, {}", f.code, f.evidence));
        return Err(Error::plan(
            format!("run {} of the {name} is invalid ({reason})", summary.id),
            "drop it, measure it again, or pass --force to use its figures",
        ));
    }
    Ok(())
}

/// The runs that a side names, by id, prefix or tag; a tag names all runs that bear it.
pub(crate) fn named(matches: &ArgMatches, side: &str, store: &Store) -> Result<Side> {
    let names: Vec<&String> = matches.get_many(side).map(Iterator::collect).unwrap_or_default();
    if names.is_empty() {
        return Err(Error::plan(
            format!("no run for the {side}"),
            format!("pass --{side} RUN…, or two plans: --run A.toml B.toml"),
        ));
    }
    let mut side = Side::new();
    for name in names {
        // An id is never the tag of another run.
        let is_id = store.ids()?.contains(name);
        let mut ids = if is_id { Vec::new() } else { store.tagged(name)? };
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
fn measured(plans: [&str; 2], repeat: u32, matches: &ArgMatches, store: &Store) -> Result<(Side, Side)> {
    let settings: [Settings; 2] = [layers::of_file(plans[0])?, layers::of_file(plans[1])?];
    // Fail before the first run, not after it.
    store.probe()?;
    announce(&settings, repeat, matches, store)?;
    let mut sides = [Side::new(), Side::new()];
    for pass in 0..repeat {
        let order = if pass % 2 == 0 { [0, 1] } else { [1, 0] };
        for side in order {
            let context = context::alone(settings[side].clone(), matches)?;
            let number = sides[0].len() + sides[1].len() + 1;
            context.recording.tell(&format!("run {number} of {} ({})", 2 * repeat, plans[side]));
            sides[side].push(repetition::run(&context)?);
        }
    }
    let [baseline, candidate] = sides;
    Ok((baseline, candidate))
}

/// Tells how long the runs will take, and whether so few can tell anything.
fn announce(settings: &[Settings; 2], repeat: u32, matches: &ArgMatches, store: &Store) -> Result<()> {
    let [a, b] = settings.each_ref().map(|settings| context::alone(settings.clone(), matches));
    let (a, b) = (a?, b?);
    let floor = noise::of(store, &a.redacted_target())?.is_some();
    if let Some(warning) = too_few(repeat as usize, floor) {
        context::tell(&warning);
    }
    let runs = [&a.plan, &b.plan].into_iter().cycle().take(2 * repeat as usize);
    a.recording.tell(&Estimate::of("runs", runs).to_string());
    Ok(())
}

/// What to say of `repeat` runs a side that can tell no difference, whatever they measure.
fn too_few(repeat: usize, has_noise_floor: bool) -> Option<String> {
    let needed = runs_to_tell(1);
    match repeat {
        1 if has_noise_floor => None,
        1 => Some(format!(
            "one run a side cannot decide: pass --repeat {needed} or more, or measure the noise floor (run --repeat 5)"
        )),
        _ if can_tell(repeat, repeat, 1) => None,
        _ => Some(format!("{repeat} runs a side cannot show a difference: pass --repeat {needed} or more")),
    }
}

/// The sides read again without names, if --redact is given.
pub(crate) fn redacted(sides: Sides, runs: &Runs) -> Result<Sides> {
    let read = |side: Side| side.iter().map(|(run, _)| runs.read(&run.head.id)).collect::<Result<Side>>();
    Ok(Sides {
        names: sides.names.map(|name| runs.name(&name)),
        baseline: read(sides.baseline)?,
        candidate: read(sides.candidate)?,
        planned: sides.planned,
    })
}

/// Both sides as the command line names them; plans are run first.
pub(crate) fn of_both(matches: &ArgMatches, gate: Option<&Gate>, store: &Store) -> Result<Sides> {
    let plans: Vec<&String> = matches.get_many("run").map(Iterator::collect).unwrap_or_default();
    let [a, b] = plans.as_slice() else {
        return of_stored(matches, store);
    };
    let repeat = flags::repetitions(matches, 1, 5)?;
    // Before anything runs; of a single run a side, the noise floor is known by its target.
    if let Some(gate) = gate.filter(|_| repeat > 1) {
        gate.refuse_too_few(repeat as usize, repeat as usize, 1, false)?;
    }
    let (baseline, candidate) = measured([a.as_str(), b.as_str()], repeat, matches, store)?;
    Ok(Sides { names: distinct([a, b].map(|plan| (*plan).clone())), baseline, candidate, planned: true })
}

/// Both sides as the command line names them, of runs that are stored.
pub(crate) fn of_stored(matches: &ArgMatches, store: &Store) -> Result<Sides> {
    let (baseline, candidate) = (named(matches, "baseline", store)?, named(matches, "candidate", store)?);
    let names = distinct(["baseline", "candidate"].map(|side| name(matches, side)));
    Ok(Sides { names, baseline, candidate, planned: false })
}

/// Two runs, each a side.
pub(crate) fn of_two(store: &Store, [a, b]: [&str; 2]) -> Result<Sides> {
    let of = |id: &str| repetition::judged(store, id).map(|run| vec![run]);
    let (baseline, candidate) = (of(a)?, of(b)?);
    let called =
        |side: &Side| side.first().map(|(run, _)| run.head.plan.tag.clone().unwrap_or_else(|| run.head.id.clone()));
    let names = distinct([&baseline, &candidate].map(|side| called(side).unwrap_or_default()));
    Ok(Sides { names, baseline, candidate, planned: false })
}

/// What a side is called whose runs are in the store: as it was named, where by one name.
fn name(matches: &ArgMatches, side: &str) -> String {
    let mut given = matches.get_many::<String>(side).into_iter().flatten();
    given.next().filter(|_| given.next().is_none()).map_or_else(|| side.to_owned(), Clone::clone)
}

/// Names that tell one side from the other.
fn distinct(names: [String; 2]) -> [String; 2] {
    if names[0] == names[1] { ["baseline", "candidate"].map(str::to_owned) } else { names }
}
