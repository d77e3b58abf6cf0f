//! The sides of a comparison: found in the store or in packs, or measured, and whether their runs may be quoted.

use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::compare::{Gate, NamedSide, NoiseFloor, Side, Sides, can_tell, runs_to_tell};
use mindful_core::plan::settings::Settings;
use mindful_core::result::{Severity, Validity};
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::estimate::Estimate;
use mindful_runner::repetition;

use crate::args::flags;
use crate::commands::import::files;
use crate::commands::run::turns::Turns;
use crate::intake::{self, PassingStore};
use crate::prices::Prices;
use crate::runs::Runs;
use crate::{context, layers, noise};

pub(crate) struct AllSides {
    pub(crate) sides: Vec<NamedSide>,
    /// Whether plans were run, which differ on purpose.
    pub(crate) planned: bool,
    /// Whether runs of other hosts are among them.
    pub(crate) from_elsewhere: bool,
}

impl AllSides {
    /// The sides that `names` name; plans of --run are run first.
    pub(crate) fn named(matches: &ArgMatches, gate: Option<&Gate>, store: &Store) -> Result<Self> {
        let plans: Vec<&String> = matches.get_many("run").map(Iterator::collect).unwrap_or_default();
        if plans.is_empty() {
            let names: Vec<&String> = matches.get_many("sides").map(Iterator::collect).unwrap_or_default();
            return Self::stored(&names, matches, &Runs::of(store, matches));
        }
        let repeat = flags::repetitions(matches, 1, 5)?;
        // Before anything runs; of a single run a side, the noise floor is known by its target.
        if let Some(gate) = gate.filter(|_| repeat > 1) {
            gate.refuse_too_few(repeat as usize, repeat as usize, 1, false)?;
        }
        let measured = measured(&plans, repeat, matches, store)?;
        let sides = plans.into_iter().cloned().zip(measured);
        let runs = Runs::of(store, matches);
        let sides = sides.map(|(name, runs)| NamedSide { name, runs, noise: None }).collect();
        Self { sides, planned: true, from_elsewhere: false }.completed(matches, &runs)
    }

    pub(crate) fn stored(names: &[&String], matches: &ArgMatches, runs: &Runs) -> Result<Self> {
        if names.len() < 2 {
            return Err(Error::plan(
                format!("a comparison needs two sides or more, and {} was named", names.len()),
                "name tags, runs, packs or folders of packs: compare before after; or plans: --run A.toml B.toml",
            ));
        }
        let store = runs.store();
        let (mut sides, mut from_elsewhere) = (Vec::new(), false);
        for name in names {
            let (side, elsewhere) = match of_store(name, store) {
                Ok(side) => side,
                Err(error) => of_path(Path::new(name), runs).unwrap_or(Err(error))?,
            };
            from_elsewhere |= elsewhere;
            sides.push(NamedSide { name: short(name), runs: side, noise: None });
        }
        Self { sides, planned: false, from_elsewhere }.completed(matches, runs)
    }

    /// The same with names that differ, noise floors and prices, and without names that --redact takes out.
    fn completed(mut self, matches: &ArgMatches, runs: &Runs) -> Result<Self> {
        for side in &mut self.sides {
            // Before names are redacted: the noise floor is stored under the name of the target.
            side.noise = noise_floor(&side.runs, runs.store())?;
        }
        let first = self.sides.first().and_then(|side| side.noise).filter(|_| !self.from_elsewhere);
        let prices = matches.get_one::<String>("prices").map(|path| Prices::read(Path::new(path))).transpose()?;
        for at in 0..self.sides.len() {
            let taken = self.sides[..at].iter().filter(|side| side.name == self.sides[at].name).count();
            let side = &mut self.sides[at];
            side.noise = side.noise.or(first);
            if let Some(prices) = &prices {
                prices.attach(side);
            }
            if taken > 0 {
                side.name = format!("{} ({})", side.name, taken + 1);
            }
        }
        if matches.get_flag("redact") { self.redacted(runs) } else { Ok(self) }
    }

    fn redacted(mut self, runs: &Runs) -> Result<Self> {
        for side in &mut self.sides {
            side.name = runs.name(&side.name);
            for run in &mut side.runs {
                // A run of a pack was redacted when it was read.
                if runs.store().log(&run.0.head.id).is_ok() {
                    let price = run.0.head.plan.price.take();
                    *run = runs.read(&run.0.head.id)?;
                    run.0.head.plan.price = price;
                    run.1 = mindful_analyze::analyze(&run.0);
                }
            }
        }
        Ok(self)
    }

    /// The two sides; all sides back if there are more.
    pub(crate) fn two(self) -> std::result::Result<(Sides, Option<NoiseFloor>), Self> {
        let [a, b] = <[NamedSide; 2]>::try_from(self.sides).map_err(|sides| Self { sides, ..self })?;
        let noise = a.noise.filter(|_| !self.from_elsewhere);
        let names = distinct([a.name, b.name]);
        Ok((Sides { names, baseline: a.runs, candidate: b.runs, planned: self.planned }, noise))
    }
}

/// Refuses sides with a run that differs from its plan: its figures would influence the verdict unnoticed.
///
/// # Errors
/// The first invalid run, with the reason.
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

/// The runs that the values of `flag` name, by id, prefix or tag; a tag names all runs that bear it.
pub(super) fn named(matches: &ArgMatches, flag: &str, store: &Store) -> Result<Side> {
    let mut side = Side::new();
    for name in matches.get_many::<String>(flag).into_iter().flatten() {
        side.extend(of_store(name, store)?.0);
    }
    Ok(side)
}

/// The runs of the store called `name`: those with that tag, one run, or several separated by commas; and whether some
/// were made elsewhere.
fn of_store(name: &str, store: &Store) -> Result<(Side, bool)> {
    // An id is never the tag of another run.
    let is_id = store.ids()?.iter().any(|id| id == name);
    let mut ids = if is_id { Vec::new() } else { store.tagged(name)? };
    if ids.is_empty() {
        match (store.resolve(name), name.split_once(',')) {
            (Ok(id), _) => ids.push(id),
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => {
                for part in name.split(',') {
                    ids.push(store.resolve(part.trim())?);
                }
            }
        }
    }
    let elsewhere = ids.iter().any(|id| store.is_imported(id));
    Ok((ids.iter().map(|id| repetition::judged(store, id)).collect::<Result<_>>()?, elsewhere))
}

/// The runs of a pack, of a run folder, or of all those in a folder; `None` if there is no such path.
fn of_path(path: &Path, runs: &Runs) -> Option<Result<(Side, bool)>> {
    path.exists().then(|| {
        let named = files::of_path(path)?;
        let passing = PassingStore::new()?;
        let mut side = Side::new();
        for one in named {
            if files::is_run(&one) {
                let id = intake::take_in(&passing.store, &one)?.id;
                side.push(runs.read_in(&passing.store, &id)?);
            }
        }
        if side.is_empty() {
            let next = "name a pack (`mindful pack RUN`), a run folder, or a folder of them";
            return Err(Error::plan(format!("{} contains no runs", path.display()), next));
        }
        Ok((side, true))
    })
}

/// The name of a side: of a path, its last part without the ending of a pack.
fn short(name: &str) -> String {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
    last.strip_suffix(".tar.zst").unwrap_or(last).to_owned()
}

/// The noise floor of this platform on the target of the first run; `None` for runs that were made elsewhere.
pub(super) fn noise_floor(side: &Side, store: &Store) -> Result<Option<NoiseFloor>> {
    let ids = || side.iter().map(|(run, _)| run.head.id.as_str());
    let Some(first) = ids().next() else { return Ok(None) };
    if ids().any(|id| store.is_imported(id) || store.log(id).is_err()) {
        return Ok(None);
    }
    noise::of(store, &store.head(first)?.target)
}

/// Runs plans in turn, A B C C B A, so that drift hits all alike.
fn measured(plans: &[&String], repeat: u32, matches: &ArgMatches, store: &Store) -> Result<Vec<Side>> {
    let settings: Vec<Settings> = plans.iter().map(|plan| layers::of_file(plan)).collect::<Result<_>>()?;
    // Fail before the first run, not after it.
    store.probe()?;
    announce(&settings, repeat, matches, store)?;
    let mut sides: Vec<Side> = plans.iter().map(|_| Side::new()).collect();
    let mut turns = Turns::new(plans.len() as u32 * repeat);
    for pass in 0..repeat {
        let mut order: Vec<usize> = (0..plans.len()).collect();
        if pass % 2 == 1 {
            order.reverse();
        }
        for side in order {
            let context = context::alone(settings[side].clone(), matches)?;
            context.recording.tell(&turns.next_line(Some(plans[side])));
            let run = repetition::run(&context).map_err(|error| with_comparison(error, &sides))?;
            sides[side].push(run);
        }
    }
    Ok(sides)
}

/// `error` with the comparison of the runs that ended, if each side has one.
fn with_comparison(mut error: Error, sides: &[Side]) -> Error {
    if error.next.is_empty() && sides.iter().all(|side| !side.is_empty()) {
        let ids = |side: &Side| side.iter().map(|(run, _)| run.head.id.as_str()).collect::<Vec<_>>().join(",");
        let sides: Vec<String> = sides.iter().map(ids).collect();
        error.next = format!("`mindful compare --force {}` compares them", sides.join(" "));
    }
    error
}

/// Prints the duration of the runs, and whether so few can show a difference.
fn announce(settings: &[Settings], repeat: u32, matches: &ArgMatches, store: &Store) -> Result<()> {
    let contexts = settings.iter().map(|settings| context::alone(settings.clone(), matches));
    let contexts = contexts.collect::<Result<Vec<_>>>()?;
    let Some(first) = contexts.first() else { return Ok(()) };
    let floor = noise::of(store, &first.redacted_target())?.is_some();
    if let Some(warning) = too_few(repeat as usize, floor) {
        context::tell(&warning);
    }
    let runs = contexts.iter().map(|context| &context.plan).cycle().take(contexts.len() * repeat as usize);
    first.recording.tell(&Estimate::of("run", runs).to_string());
    Ok(())
}

/// The warning if `repeat` runs a side cannot show any difference.
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

/// Names that distinguish one side from the other.
fn distinct([a, b]: [String; 2]) -> [String; 2] {
    if b == format!("{a} (2)") { ["baseline", "candidate"].map(str::to_owned) } else { [a, b] }
}
