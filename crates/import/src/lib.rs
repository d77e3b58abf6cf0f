//! Old configurations as mindful plans, and what other tools measured as runs. Nothing in a file is ever executed.

mod awr;
mod awr_info;
mod connect_string;
mod event_histogram;
mod fio;
mod flashdba;
mod format;
mod formats;
mod input;
mod number;
mod old_step;
mod orion;
mod pgio;
mod pgio_line;
mod plan_file;
pub mod report;
mod report_step;
pub mod rows;
mod runs;
mod shell;
mod slob;
mod source;
mod statspack;
mod tables;
mod trace;
mod unknown;
pub mod waits;
mod workers;

use mindful_core::{Error, Result};

pub use format::Format;
pub use formats::FORMATS;
pub use old_step::{MOST_SESSIONS, OldStep};
pub use orion::LatencyUnit;
pub use runs::{OldRun, runs};
pub use source::{Source, recognised};

/// Whose configuration a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kit {
    /// SLOB 2.5: `slob.conf`.
    Slob,
    /// pgio 1.0: `pgio.conf`.
    Pgio,
}

/// A plan file made of an old configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Whose it was.
    pub kit: Kit,
    /// The plan file, each line with a comment.
    pub toml: String,
    /// What could not be carried over, one line each.
    pub left_behind: Vec<String>,
}

/// Reads the configuration `text` of the file `name`.
pub fn import(name: &str, text: &str) -> Result<Imported> {
    let script = shell::parse(name, text)?;
    let kit = kit(name, &script)?;
    let mut plan = match kit {
        Kit::Slob => slob::plan(&script)?,
        Kit::Pgio => pgio::plan(&script)?,
    };
    for (line, text) in &script.commands {
        plan.leave(format!("line {line}: `{text}` is a command: nothing in the file is executed"));
    }
    let (toml, left_behind) = plan.finish(name);
    Ok(Imported { kit, toml, left_behind })
}

/// Known by the keys that only one of the kits has, then by the file's name.
fn kit(name: &str, script: &shell::Script) -> Result<Kit> {
    let has = |keys: &[&str]| keys.iter().any(|key| script.get(key).is_some());
    let (slob, pgio) = (has(&slob::OWN_KEYS), has(&pgio::OWN_KEYS));
    match (slob, pgio, name.to_ascii_lowercase()) {
        (true, false, _) => Ok(Kit::Slob),
        (false, true, _) => Ok(Kit::Pgio),
        (_, _, name) if name.contains("slob") => Ok(Kit::Slob),
        (_, _, name) if name.contains("pgio") => Ok(Kit::Pgio),
        _ => Err(Error::plan(
            format!("{name} looks like neither slob.conf nor pgio.conf"),
            "give it the name slob.conf or pgio.conf",
        )),
    }
}
