//! Merges the runs that all ranks stored, and stores a merged run. Rank 0 merges the parts at the rendezvous in the same
//! way, so both produce the same figures.

use mindful_analyze::Analysis;
use mindful_core::Result;
use mindful_core::contract::event::{Event, Events};
use mindful_core::record::run::{Run, RunHead};
use mindful_record::{Store, part};

use crate::run_merge::{RunMerge, cannot_merge, part_of};

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
    // It does not have the fields that describe only the first rank.
    let mut head = RunHead { id: String::new(), ..run.head.clone() };
    head.settings.remove("rank");
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
