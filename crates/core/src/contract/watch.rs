//! Circumstances that figures depend on: a setting, a limit, the place of the rows, the age of counters.
//!
//! A check before a run is true at that moment only. A [`Watch`] reads the same values before a step, at each boundary of
//! its slices and at its end. The record keeps what changed and when, and the analysis cuts the window there.

use serde::{Deserialize, Serialize};

use crate::contract::error::Result;
use crate::contract::metric::Phase;

/// The effect of a circumstance on a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decides {
    /// From when the server counts.
    Counters,
    /// Where the rows are.
    Layout,
    /// How the work is done: a setting, a limit, a mount.
    Work,
}

/// A circumstance and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstance {
    /// Its name in the system that sets it, such as `fsync`.
    pub name: String,
    /// Its value as text; `None` if it cannot be read.
    pub value: Option<String>,
    /// The effect of a change.
    pub decides: Decides,
}

impl Circumstance {
    /// One of that name and value.
    pub fn new(name: impl Into<String>, value: Option<String>, decides: Decides) -> Self {
        Self { name: name.into(), value, decides }
    }
}

/// Reads circumstances that must not change while figures are measured.
pub trait Watch: Send {
    /// Name of the source, such as `host`.
    fn name(&self) -> &str;

    /// When to read it: a server that answers late must not delay the counters of the host.
    fn phase(&self) -> Phase {
        Phase::Boundary
    }

    /// All circumstances, each under a unique name.
    fn read(&mut self) -> Result<Vec<Circumstance>>;
}
