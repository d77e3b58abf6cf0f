//! The common input of all ranks: the plan, the engine with its options, and the targets.
//!
//! A digest shows whether two ranks differ, and a mark for each key shows in which key. A mark is four digits of the
//! value's hash: no rank publishes a value, which may be a secret.

use mindful_core::plan::KEYS;
use mindful_core::plan::settings::Trust;
use mindful_runner::Context;
use sha2::{Digest, Sha256};

const KEYS_OF_A_RANK: [&str; 5] = ["rank", "ranks", "job", "meet", "meet_timeout"];

/// The digest for a run on several `targets`, without secrets.
pub fn plan_digest(context: &Context, targets: &[String]) -> String {
    let mut hash = Sha256::new();
    hash.update(serde_json::to_vec(&context.public_plan()).unwrap_or_default());
    hash.update(context.engine.name());
    hash.update(joined(context, targets));
    for key in context.engine.options().iter().filter(|key| key.trust == Trust::Value) {
        hash.update(format!("\n{}={}", key.name, context.settings.get(key.name).unwrap_or_default()));
    }
    let number = hash.finalize().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    format!("{number:016x}")
}

pub fn key_marks(context: &Context, targets: &[String]) -> Vec<(String, String)> {
    let options = context.engine.options().iter().filter(|key| key.trust == Trust::Value);
    let of_plan = KEYS.iter().filter(|key| key.trust != Trust::Place && !KEYS_OF_A_RANK.contains(&key.name));
    let keys = of_plan.chain(options).map(|key| {
        let value = context.settings.get(key.name).unwrap_or_default();
        (format!("--{}", key.flag_name()), value.to_owned())
    });
    let engine = ("engine".to_owned(), context.engine.name().to_owned());
    let target = ("--target".to_owned(), joined(context, targets));
    [engine, target].into_iter().chain(keys).map(|(name, value)| (name, mark(&value))).collect()
}

fn mark(value: &str) -> String {
    let number = Sha256::digest(value).iter().take(2).fold(0_u16, |number, byte| number << 8 | u16::from(*byte));
    format!("{number:04x}")
}

/// The targets as text. Ranks that meet in their only target have thereby proven that it is the same one, under any
/// name. Then it is not compared.
fn joined(context: &Context, targets: &[String]) -> String {
    match targets {
        [] if context.settings.get("meet").is_none() => String::new(),
        [] => context.redacted_target(),
        all => all.join("\n"),
    }
}
