//! Parts of ranks become one run, as they come from the others or from their folders: the same either way.

use mindful_analyze::Analysis;
use mindful_core::event::{Event, Events};
use mindful_core::gathered::Gathered;
use mindful_core::result::Finding;
use mindful_core::run::{RankRecord, Run, StepRecord};
use mindful_core::{Error, Result};
use mindful_record::{Store, part};

use crate::party::Party;

/// CPUs that the process of `run` might use.
fn cpus(run: &Run) -> Option<f64> {
    let fact = |name: &str| run.environment.get(name).and_then(|cpus| cpus.parse::<f64>().ok());
    fact("client.cpus_allowed").or_else(|| fact("cpu.count")).filter(|cpus| *cpus > 0.0)
}

fn refused(why: impl std::fmt::Display) -> Error {
    Error::plan(format!("these runs do not become one: {why}"), "give the folders of all ranks of one run, each once")
}

/// What one rank's run says of its sessions.
///
/// # Errors
/// It is none of a rank's, or did not come to its end.
pub fn part_of(run: &Run) -> Result<StepRecord> {
    let [step] = &*run.steps else {
        return Err(refused(format!("run {} has {} steps", run.head.id, run.steps.len())));
    };
    if !step.finished() || step.error.is_some() {
        return Err(refused(format!("run {} did not come to its end", run.head.id)));
    }
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let mut part = step.part(cpus(run), in_process).map_err(|why| refused(format!("run {}: {why}", run.head.id)))?;
    // The first rank's stand in its run, which becomes that of all.
    for rank in part.ranks.iter_mut().filter(|rank| rank.rank > 0) {
        rank.findings.clone_from(&run.findings);
        rank.findings.extend(mindful_analyze::checks::of_part(run));
    }
    Ok(part)
}

/// The run of all ranks: `first` is that of rank 0, with all its counters.
pub fn gathered(first: &Run) -> Result<Gathered> {
    part_of(first)?;
    let step = first.steps.first().cloned().ok_or_else(|| refused("the first has no step"))?;
    Gathered::new(step, cpus(first)).map_err(refused)
}

/// What the others leave for the first rank, added to its own run.
pub fn collected(party: &Party, first: &Run) -> Result<Gathered> {
    let mut all = gathered(first)?;
    party.collect(&mut |rank, bytes| {
        let part = part::unpack(&bytes).map_err(|error| error.at(format_args!("rank {rank}")))?;
        all.add(&part).map_err(refused)
    })?;
    Ok(all)
}

/// The runs of all ranks as one.
///
/// # Errors
/// One is missing, or they are not of one run.
pub fn of_folders(mut runs: Vec<Run>) -> Result<(Run, Gathered)> {
    let rank = |run: &Run| run.steps.first().and_then(|step| step.ranks.first()).map(|rank| rank.rank);
    let first = runs.iter().position(|run| rank(run) == Some(0)).ok_or_else(|| refused("rank 0 is missing"))?;
    let first = runs.swap_remove(first);
    let mut all = gathered(&first)?;
    for run in &runs {
        if run.head.plan != first.head.plan || run.head.mindful_version != first.head.mindful_version {
            return Err(refused(format!("run {} has another plan or version than {}", run.head.id, first.head.id)));
        }
        all.add(&part_of(run)?).map_err(refused)?;
    }
    Ok((first, all))
}

/// What a rank found, as the run of all tells it; the rank keeps none of it.
fn findings_of(rank: &mut RankRecord) -> Vec<Finding> {
    let (number, host) = (rank.rank, rank.host.clone());
    let told = |found: Finding| Finding { evidence: format!("rank {number} on {host}: {}", found.evidence), ..found };
    std::mem::take(&mut rank.findings).into_iter().map(told).collect()
}

/// Stores what was gathered as a run of its own; gives it as it was read back, with what it says.
pub fn stored(store: &Store, first: Run, all: Gathered) -> Result<(Run, Analysis)> {
    let mut step = all.finish().map_err(refused)?;
    let mut findings = first.findings.clone();
    for rank in &mut step.ranks {
        findings.extend(findings_of(rank));
    }
    let run = Run { steps: vec![step], findings, ..first };
    let writer = store.create(part::head_of_all(&run.head))?;
    for event in part::events(&run) {
        writer.emit(event);
    }
    writer.emit(Event::Finished { interrupted: run.interrupted, error: run.error.clone() });
    writer.close()?;
    let run = store.read(writer.id())?;
    let analysis = mindful_analyze::analyze(&run);
    store.write_summary(&analysis.summary)?;
    Ok((run, analysis))
}
