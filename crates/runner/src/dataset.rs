//! Loads the dataset of a plan: finds it, makes or completes it, proves its layout.

use mindful_core::contract::clock::Clock;
use mindful_core::contract::description::Description;
use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::dataset::{Dataset, DatasetPlan, LayoutProof};
use mindful_core::plan::Plan;
use mindful_core::{Error, ErrorKind, Result};

#[derive(Debug)]
pub struct Ensured {
    pub dataset: Dataset,
    /// Whether some of it was loaded just now, for which a private server may have been restarted.
    pub loaded: bool,
}

/// Finds the dataset that `plan` can run on, or loads it. Emits it, and the proof of its layout: of this load, or the one
/// stored since an earlier one.
pub fn ensure(
    target: &dyn Target,
    plan: &Plan,
    description: &Description,
    events: &dyn Events,
    stop: &StopFlag,
    clock: &dyn Clock,
) -> Result<Ensured> {
    match find(target, plan, description)? {
        Found::All(loaded) => {
            events.emit(Event::Loaded { dataset: loaded.clone(), load_s: None });
            if !description.files {
                prove(target, events, stop)?;
            }
            Ok(Ensured { dataset: loaded, loaded: false })
        }
        Found::Wanting { whole, .. } => {
            Ok(Ensured { dataset: load(target, &whole, events, stop, clock)?, loaded: true })
        }
    }
}

/// Returns in advance the errors of [`ensure`]. Changes nothing.
pub(crate) fn check(target: &dyn Target, plan: &Plan, description: &Description, events: &dyn Events) -> Result<()> {
    match find(target, plan, description)? {
        Found::All(loaded) => plan.workload(&loaded).map(drop),
        Found::Wanting { whole, missing_schemas } => {
            target.check_room(&DatasetPlan { schemas: missing_schemas, ..whole }, events)
        }
    }
}

/// The state of a plan's dataset on a target.
enum Found {
    All(Dataset),
    Wanting { whole: DatasetPlan, missing_schemas: u32 },
}

/// Refuses an unsuitable dataset before the first byte is written.
fn find(target: &dyn Target, plan: &Plan, description: &Description) -> Result<Found> {
    let block_bytes = description.block_bytes;
    let (whole, missing_schemas) = match target.dataset()? {
        Some(loaded) if loaded.schemas >= plan.schemas.unwrap_or(1) => return Ok(Found::All(loaded)),
        Some(loaded) => {
            // An extension keeps the layout parameters of the existing schemas.
            let schemas = plan.schemas.unwrap_or(loaded.schemas);
            let more = DatasetPlan {
                schemas,
                blocks_per_schema: loaded.blocks_per_schema,
                scan_blocks: loaded.scan_blocks,
                content: loaded.content,
                seed: loaded.seed,
                load_streams: plan.load_streams,
            };
            more.bytes(block_bytes).ok_or_else(|| {
                Error::plan(
                    format!("{schemas} schemas as large as the loaded ones are too many"),
                    "pass fewer --schemas",
                )
            })?;
            (more, schemas - loaded.schemas)
        }
        None => {
            let wanted = plan.dataset(block_bytes)?;
            plan.workload(&wanted.expected(block_bytes))?;
            let schemas = wanted.schemas;
            (wanted, schemas)
        }
    };
    target.admits(plan, true)?;
    Ok(Found::Wanting { whole, missing_schemas })
}

/// Emits the stored proof of the layout, or a new one where the tables changed since.
fn prove(target: &dyn Target, events: &dyn Events, stop: &StopFlag) -> Result<()> {
    if let Some(proof) = target.stored_proof()? {
        events.emit(Event::Proven { proof });
        return Ok(());
    }
    emit_note(events, "no proof of the layout is stored, or the dataset changed since: proving it now");
    verify(target, false, events, stop).map(drop)
}

/// Loads `plan` and proves the layout.
pub fn load(
    target: &dyn Target,
    plan: &DatasetPlan,
    events: &dyn Events,
    stop: &StopFlag,
    clock: &dyn Clock,
) -> Result<Dataset> {
    let began = clock.elapsed();
    let loaded = target.load(plan, events, stop)?;
    let load_s = clock.elapsed().saturating_sub(began).as_secs_f64();
    events.emit(Event::Loaded { dataset: loaded.clone(), load_s: Some(load_s) });
    verify(target, false, events, stop)?;
    Ok(loaded)
}

/// Proves the layout of the loaded dataset and stores the proof with it, or fails with the violation. With
/// `all_blocks`, every block is checked.
pub fn verify(target: &dyn Target, all_blocks: bool, events: &dyn Events, stop: &StopFlag) -> Result<LayoutProof> {
    let proof = if all_blocks { target.verify_all(stop)? } else { target.verify(stop)? };
    if proof.schemas.is_empty() {
        return Ok(proof);
    }
    let failure = proof.failure();
    if failure.is_none()
        && let Err(error) = target.store_proof(&proof)
    {
        if error.kind == ErrorKind::Interrupted {
            return Err(error);
        }
        emit_note(events, format!("the proof of the layout is not stored for later runs: {error}"));
    }
    events.emit(Event::Proven { proof: proof.clone() });
    match failure {
        None => Ok(proof),
        Some(failure) => Err(Error::run(
            format!("the layout does not hold: {failure}"),
            "`mindful cleanup` and load again; if it happens again, please report it",
        )),
    }
}
