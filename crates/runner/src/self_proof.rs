//! Whether the engine of a run has proven itself on its target: `doctor` stores its result, runs look it up.

use mindful_core::contract::target::Target;
use mindful_core::contract::{Proven, SelfProof, StoredProof};
use mindful_core::plan::units::format_counted;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Result, contract::clock};
use mindful_record::Store;

/// The version with proven claims: another one has other texts.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Stores `proof` of `target` in `store`, in place of an older one.
pub fn store(target: &dyn Target, store: &Store, proof: &SelfProof) -> Result<()> {
    let Some(subject) = target.self_proof_subject()? else { return Ok(()) };
    let stored = StoredProof { version: VERSION.to_owned(), proven_at_us: clock::now_us(), lines: proof.lines.clone() };
    store.store_self_proof(&subject, &stored)
}

/// The finding for runs on `target`: a claim of its engine failed there, or was not tested.
pub(crate) fn finding(target: &dyn Target, store: &Store) -> Result<Option<Finding>> {
    let Some(subject) = target.self_proof_subject()? else { return Ok(None) };
    let Some(stored) = store.self_proof(&subject)? else {
        return Ok(Some(missing("no proof of this database, release and account".to_owned())));
    };
    let failed: Vec<&str> = stored.claims(Proven::Fail).collect();
    if let Some(first) = failed.first() {
        let text = "A claim of the engine is false on this server, so its figures are wrong. Correct what the lines \
                    of `mindful doctor` name, or send its bundle. Repeat the run after the doctor passes.";
        let evidence = format!("{} failed, the first: {first}", format_counted(failed.len(), "claim"));
        return Ok(Some(codes::SELF_PROOF_FAILED.finding(text, evidence)));
    }
    Ok((stored.version != VERSION).then(|| missing(format!("proven by mindful {}, this is {VERSION}", stored.version))))
}

fn missing(evidence: String) -> Finding {
    let text = "This experimental engine has not proven its claims on this server. `mindful doctor` with the same \
                --target tests them in about half a minute and stores the result.";
    codes::SELF_PROOF_MISSING.finding(text, evidence)
}
