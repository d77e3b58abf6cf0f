//! Old configurations as mindful plans.

pub(crate) mod connect_string;
mod pgio;
mod plan_file;
mod shell;
mod slob;

use mindful_core::{Error, Result};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kit {
    /// SLOB 2.5: `slob.conf`.
    Slob,
    /// pgio 1.0: `pgio.conf`.
    Pgio,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPlan {
    /// The plan file, each line with a comment.
    pub toml: String,
    /// What could not be carried over, one line each.
    pub left_behind: Vec<String>,
}

pub fn import_configuration(name: &str, text: &str) -> Result<ImportedPlan> {
    let script = shell::parse(name, text)?;
    let kit = kit(name, &script)?;
    let mut plan = match kit {
        Kit::Slob => slob::plan(&script)?,
        Kit::Pgio => pgio::plan(&script)?,
    };
    for (line, text) in &script.commands {
        plan.leave(format!("line {line}: `{text}` is a command, and nothing in the file is executed"));
    }
    let (toml, left_behind) = plan.finish(name);
    Ok(ImportedPlan { toml, left_behind })
}

/// Known by the keys that only one of the kits has, then by the file's name.
fn kit(name: &str, script: &shell::Script) -> Result<Kit> {
    let has = |keys: &str| keys.split(' ').any(|key| script.get(key).is_some());
    let (slob, pgio) = (has(slob::OWN_KEYS), has(pgio::OWN_KEYS));
    match (slob, pgio, name.to_ascii_lowercase()) {
        (true, false, _) => Ok(Kit::Slob),
        (false, true, _) => Ok(Kit::Pgio),
        (_, _, name) if name.contains("slob") => Ok(Kit::Slob),
        (_, _, name) if name.contains("pgio") => Ok(Kit::Pgio),
        _ => Err(Error::plan(
            format!("{name} is neither a slob.conf nor a pgio.conf"),
            "rename it to slob.conf or pgio.conf",
        )),
    }
}
