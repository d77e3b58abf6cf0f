//! Checks of the role's privileges: without some of them a run is refused, or settles later.

use mindful_core::Error;
use mindful_core::result::finding::{Code, Finding};

use super::state::State;
use crate::codes;

/// Why a run will be refused, with the remedy.
fn refused(code: Code, refusal: Option<Error>) -> Option<Finding> {
    refusal.map(|refusal| {
        code.finding(format!("Any run will be refused, before anything is loaded. {}", refusal.next), refusal.what)
    })
}

pub(super) fn writes(state: &State) -> Option<Finding> {
    let wanted = state.planned.in_server || state.planned.updates || state.planned.loads;
    refused(codes::WRITE_REFUSED, state.rights.as_ref()?.no_writes().filter(|_| wanted))
}

pub(super) fn create(state: &State) -> Option<Finding> {
    refused(codes::WRITE_REFUSED, state.rights.as_ref()?.no_create().filter(|_| state.planned.loads))
}

pub(super) fn temp(state: &State) -> Option<Finding> {
    refused(codes::WRITE_REFUSED, state.rights.as_ref()?.no_temp().filter(|_| state.planned.in_server))
}

pub(super) fn checkpoint(state: &State) -> Option<Finding> {
    let rights = state.rights.as_ref()?;
    (!rights.may_checkpoint).then(|| {
        let text = format!(
            "mindful requests a CHECKPOINT after a load and after updates. Without that privilege, the server \
             writes their blocks during the run. GRANT pg_checkpoint TO {}",
            rights.role
        );
        codes::CHECKPOINTS_AHEAD.finding(text, format!("{} may not CHECKPOINT", rights.role))
    })
}
