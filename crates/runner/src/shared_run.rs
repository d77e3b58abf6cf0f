//! A run that ranks share, from the first of them that comes to the last that goes.

use mindful_analyze::Analysis;
use mindful_core::plan::KEYS;
use mindful_core::plan::settings::Trust;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_record::part;
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::hooks::HookMoment;
use crate::party::Party;
use crate::runner::{self, Ended};
use crate::source::Single;
use crate::{gathering, merge};

/// How a run that ranks share ended for one of them.
pub struct Shared {
    /// Whether the run of all ranks is valid.
    pub valid: bool,
    /// This rank's part, as it is stored here.
    pub own: Ended,
}

/// The targets as all ranks must have them, without secrets. Ranks that meet in their one target have found it to be the same,
/// by whatever name each reaches it.
fn targets(context: &Context) -> String {
    match &*context.redacted_targets() {
        [] if context.settings.get("meet").is_none() => String::new(),
        [] => context.redacted_target(),
        all => all.join("\n"),
    }
}

/// What all ranks must have in common, as a short text: the plan, the engine and its options, and the targets.
pub fn digest(context: &Context) -> String {
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&context.public_plan()).unwrap_or_default());
    hash.update(context.engine.name());
    hash.update(targets(context));
    for key in context.engine.options().iter().filter(|key| key.trust == Trust::Value) {
        hash.update(format!("\n{}={}", key.name, context.settings.get(key.name).unwrap_or_default()));
    }
    let number = hash.finalize().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:016x}")
}

/// Keys that say how ranks meet, and what may have another name on each host: none of what all must have in common.
const OF_MEETING: [&str; 5] = ["rank", "ranks", "job", "meet", "meet_timeout"];

/// What all ranks must have in common, key by key: its name and four digits of its value's hash, so that two of them find out
/// which key is not alike, and neither tells the other what it holds.
pub fn marks(context: &Context) -> Vec<(String, String)> {
    let options = context.engine.options().iter().filter(|key| key.trust == Trust::Value);
    let keys = KEYS.iter().filter(|key| key.trust != Trust::Place && !OF_MEETING.contains(&key.name)).chain(options);
    let mark = |value: &str| {
        let number = Sha256::digest(value).iter().take(2).fold(0_u16, |number, byte| number << 8 | u16::from(*byte));
        format!("{number:04x}")
    };
    let values =
        keys.map(|key| (format!("--{}", key.flag_name()), mark(context.settings.get(key.name).unwrap_or_default())));
    let of_context = [("engine", context.engine.name().to_owned()), ("--target", targets(context))];
    of_context.iter().map(|(name, value)| ((*name).to_owned(), mark(value))).chain(values).collect()
}

/// Refuses plans whose steps end when one process has seen enough.
pub fn refuse_unshared(context: &Context) -> Result<()> {
    if context.plan.steady {
        return Err(Error::plan(
            "ranks end a step together, and none of them sees whether all are steady",
            "leave --steady away and give --warmup and --duration",
        ));
    }
    Ok(())
}

/// Takes this rank's share of the one step of the plan; the first rank merges, stores and shows what all did.
///
/// # Errors
/// What ended the run for all ranks, here or elsewhere; what this one did so far is stored.
pub fn run(context: &Context, party: &Party, show: &mut dyn FnMut(&Run, &Analysis) -> Result<()>) -> Result<Shared> {
    let shared = shared(context, party, show);
    if let Err(error) = &shared {
        party.fail(error);
    }
    shared
}

fn shared(context: &Context, party: &Party, show: &mut dyn FnMut(&Run, &Analysis) -> Result<()>) -> Result<Shared> {
    party.gather()?;
    let mut source = Single::new(context.system(), context.plan.clone());
    let mut own = runner::run(context, &mut source, None, &mut |_, _| Ok(()))?;
    if own.interrupted {
        let id = &own.run.head.id;
        return Err(Error::interrupted(format!("interrupted; what this rank measured is stored as {id}")));
    }
    if let Some(error) = own.error.take() {
        return Err(error);
    }
    if !party.is_first() {
        party.leave(&part::pack(&gathering::part_of(&own.run)?)?)?;
        return Ok(Shared { valid: party.end(false)?, own });
    }
    let all = merge::collected(party, &own.run)?;
    let (run, analysis) = merge::stored(&context.store, all, true)?;
    show(&run, &analysis)?;
    context.hook(HookMoment::End, &run.head.id)?;
    let valid = party.end(analysis.summary.validity != Validity::Invalid)?;
    Ok(Shared { valid, own })
}
