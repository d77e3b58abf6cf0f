//! Parts of ranks become one run, as they come from the others or from their folders: the same either way.

use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::contract::event::{Event, Events};
use mindful_core::record::run::Run;
use mindful_record::{Store, part};

use crate::gathering::{Gathering, part_of, refused};
use crate::party::Party;

/// What the others leave for the first rank, added to its own run.
pub fn collected(party: &Party, first: &Run) -> Result<Gathering> {
    let mut all = Gathering::new(first)?;
    party.collect(&mut |rank, bytes| {
        let part = part::unpack(&bytes).map_err(|error| error.at(format_args!("rank {rank}")))?;
        all.add(part).map_err(refused)
    })?;
    Ok(all)
}

/// The runs of all ranks as one.
///
/// # Errors
/// One is missing, or they are not of one run.
pub fn of_folders(mut runs: Vec<Run>) -> Result<Gathering> {
    let rank = |run: &Run| run.steps.first().and_then(|step| step.ranks.first()).map(|rank| rank.rank);
    let first = runs.iter().position(|run| rank(run) == Some(0)).ok_or_else(|| refused("rank 0 is missing"))?;
    let first = runs.swap_remove(first);
    let mut all = Gathering::new(&first)?;
    for run in &runs {
        if run.head.plan != first.head.plan || run.head.mindful_version != first.head.mindful_version {
            return Err(refused(format!("run {} has another plan or version than {}", run.head.id, first.head.id)));
        }
        all.add(part_of(run)?).map_err(refused)?;
    }
    Ok(all)
}

/// Stores what was gathered as a run of its own; gives it as it was read back, with what it says. Where `own` is false not
/// all of it was written here, and nothing that it says may be carried out.
pub fn stored(store: &Store, all: Gathering, own: bool) -> Result<(Run, Analysis)> {
    let run = all.finish().map_err(refused)?;
    let head = part::head_of_all(&run.head);
    let writer = if own { store.create(head) } else { store.create_taken_in(head) }?;
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
