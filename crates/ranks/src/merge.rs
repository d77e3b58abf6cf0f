//! Merges the parts of all ranks into one run: directly from the rendezvous, or later from their folders. Both produce
//! the same figures.

use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::contract::event::{Event, Events};
use mindful_core::record::run::Run;
use mindful_record::{Store, part};

use crate::coordinator::RankCoordinator;
use crate::run_merge::{RunMerge, cannot_merge, part_of};

/// Adds the parts of the other ranks to the run of rank 0.
pub fn collect(coordinator: &RankCoordinator, first: &Run) -> Result<RunMerge> {
    let mut merge = RunMerge::new(first)?;
    coordinator.collect(&mut |rank, bytes| {
        let part = part::unpack(&bytes).map_err(|error| error.at(format_args!("rank {rank}")))?;
        merge.add(part).map_err(cannot_merge)
    })?;
    Ok(merge)
}

/// Merges the runs that the ranks stored.
pub fn merge_folders(mut runs: Vec<Run>) -> Result<RunMerge> {
    let rank = |run: &Run| run.steps.first().and_then(|step| step.ranks.first()).map(|rank| rank.rank);
    let first = runs.iter().position(|run| rank(run) == Some(0)).ok_or_else(|| cannot_merge("rank 0 is missing"))?;
    let first = runs.swap_remove(first);
    let mut merge = RunMerge::new(&first)?;
    for run in &runs {
        if run.head.plan != first.head.plan || run.head.mindful_version != first.head.mindful_version {
            return Err(cannot_merge(format!(
                "run {} has another plan or version than {}",
                run.head.id, first.head.id
            )));
        }
        merge.add(part_of(run)?).map_err(cannot_merge)?;
    }
    Ok(merge)
}

/// Stores the merged run and analyzes it as it was read back. `written_here` is false if any part comes from elsewhere: then
/// nothing in the run, such as a hook, is ever executed.
pub fn store_merged(store: &Store, merge: RunMerge, written_here: bool) -> Result<(Run, Analysis)> {
    let run = merge.finish().map_err(cannot_merge)?;
    let head = part::head_of_all(&run.head);
    let writer = if written_here { store.create(head) } else { store.create_taken_in(head) }?;
    for event in part::events(&run) {
        writer.emit(event);
    }
    writer.emit(Event::Finished { interrupted: run.interrupted, error: run.error.clone() });
    writer.close()?;
    let run = store.read(&writer.head.id)?;
    let analysis = mindful_analyze::analyze(&run);
    store.write_summary(&analysis.summary)?;
    Ok((run, analysis))
}
