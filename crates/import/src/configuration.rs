//! Old configurations as mindful plans.

pub(crate) mod connect_string;
mod pgio;
mod plan_file;
mod shell;
mod slob;

use mindful_core::{Error, Result};

use plan_file::PlanFile;
use shell::Script;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPlan {
    /// The plan file, each line with a comment.
    pub toml: String,
    /// Settings that could not be converted, one line each.
    pub left_behind: Vec<String>,
}

pub fn import_configuration(name: &str, text: &str) -> Result<ImportedPlan> {
    let script = shell::parse(name, text)?;
    let mut plan = kit(name, &script)?(&script)?;
    for (line, text) in &script.commands {
        plan.leave(format!("line {line}: `{text}` is a command, and nothing in the file is executed"));
    }
    let (toml, left_behind) = plan.finish(name);
    Ok(ImportedPlan { toml, left_behind })
}

/// Known by the keys that only one of the kits has, then by the file's name.
fn kit(name: &str, script: &Script) -> Result<fn(&Script) -> Result<PlanFile>> {
    let has = |keys: &str| keys.split(' ').any(|key| script.get(key).is_some());
    let (slob, pgio) = (has(slob::OWN_KEYS), has(pgio::OWN_KEYS));
    match (slob, pgio, name.to_ascii_lowercase()) {
        (true, false, _) => Ok(slob::plan),
        (false, true, _) => Ok(pgio::plan),
        (_, _, name) if name.contains("slob") => Ok(slob::plan),
        (_, _, name) if name.contains("pgio") => Ok(pgio::plan),
        _ => Err(Error::plan(
            format!("{name} is neither a slob.conf nor a pgio.conf"),
            "rename it to slob.conf or pgio.conf",
        )),
    }
}
