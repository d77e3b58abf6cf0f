//! Runs of one plan, made or read for a comparison.

use mindful_analyze::Analysis;
use mindful_analyze::compare::ComparedFigure;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_record::Store;

use crate::context::Context;
use crate::coordination::Alone;
use crate::runner;
use crate::source::Single;

/// Runs the plan of `context` once. A run that is invalid is an error, because its figures may not be compared with
/// others.
pub fn run(context: &Context) -> Result<(Run, Analysis)> {
    let mut source = Single::new(context.system(), context.plan.clone());
    let ended = runner::run(context, &Alone, &mut source, None, &mut |_, _| Ok(()))?;
    let id = ended.run.head.id.clone();
    if ended.interrupted {
        return Err(Error::interrupted("interrupted; the runs that ended are stored"));
    }
    match (ended.error, ended.analysis.summary.validity) {
        (None, Validity::Valid | Validity::Suspect) if throughput(&ended.analysis).is_some() => {
            Ok((ended.run, ended.analysis))
        }
        (Some(error), _) => Err(error.at(format_args!("run {id}"))),
        _ => Err(Error::run(format!("run {id} is invalid"), format!("see why: `mindful show {id}`"))),
    }
}

/// Blocks visited per second in the first step of a run.
pub fn throughput(analysis: &Analysis) -> Option<f64> {
    analysis.steps.first().and_then(|step| ComparedFigure::Throughput.value_in(step))
}

pub fn judged(store: &Store, id: &str) -> Result<(Run, Analysis)> {
    let run = store.read(id)?;
    let analysis = mindful_analyze::analyze(&run);
    Ok((run, analysis))
}
