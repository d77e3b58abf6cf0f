//! Facts about a run and a step before they begin.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::contract::metric::Phase;
use crate::contract::slice::Placement;
use crate::contract::watch::Circumstance;
use crate::plan::Plan;
use crate::plan::settings::Settings;
use crate::plan::units;
use crate::workload::Workload;

/// Version of the run folder and of the summary.
pub const FORMAT: u32 = 1;

pub type Facts = BTreeMap<String, String>;

/// Facts before anything is opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunHead {
    pub format: u32,
    pub id: String,
    /// When it began, RFC 3339, UTC.
    pub started_at: String,
    pub mindful_version: String,
    /// Version, commit, profile and features of mindful, in one line; `None` in runs that did not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mindful_build: Option<String>,
    pub engine: String,
    /// Whether the engine can run the work loop in the database; `None` in runs that did not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_side_loop: Option<bool>,
    /// The target without secrets.
    pub target: String,
    pub plan: Plan,
    /// All settings with their origin, secrets removed.
    pub settings: Settings,
    /// The tool that measured, if another tool did; then the plan contains only the tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
}

impl RunHead {
    pub fn new(engine: &str, plan: Plan, settings: Settings) -> Self {
        Self {
            format: FORMAT,
            id: String::new(),
            started_at: String::new(),
            mindful_version: env!("CARGO_PKG_VERSION").to_owned(),
            mindful_build: None,
            engine: engine.to_owned(),
            server_side_loop: None,
            target: String::new(),
            plan,
            settings,
            imported: None,
        }
    }
}

/// Where the figures of an imported run come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// Kind of the files, such as `AWR report (text)`.
    pub what: String,
    /// Names of the files, one a step.
    pub files: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepHead {
    /// Number of the step, from 0.
    pub step: u32,
    /// Work of its sessions; `None` if another tool drove them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload: Option<Workload>,
    /// Where each session works; empty where that is not known.
    pub placements: Vec<Placement>,
    /// Number of sessions of another tool; `None` if unknown, and in runs of mindful.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u32>,
    /// Slices before the measured window.
    pub warmup_slices: u32,
    /// Requested length of the measured window, s; `None` for a fixed amount of work.
    pub duration_s: Option<f64>,
    pub ops: Option<u64>,
    /// Its place in a sweep; empty in a plain run.
    #[serde(default, skip_serializing_if = "Point::is_plain")]
    pub point: Point,
}

impl StepHead {
    /// Number of sessions; 0 if unknown.
    pub fn session_count(&self) -> usize {
        self.sessions.map_or(self.placements.len(), |sessions| sessions as usize)
    }
}

/// A point of a sweep.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// Plan keys and their values here.
    pub values: BTreeMap<String, String>,
    /// Which repetition, from 0.
    pub pass: u32,
    /// Whether it repeats the first point to expose drift.
    pub drift_check: bool,
}

impl Point {
    /// The key of sessions, the load that most sweeps vary.
    pub(crate) const SESSIONS: &str = "sessions";

    /// The same point with so many sessions.
    #[must_use]
    pub fn with_sessions(mut self, sessions: u32) -> Self {
        self.values.insert(Self::SESSIONS.to_owned(), sessions.to_string());
        self
    }

    pub fn has_sessions(&self) -> bool {
        self.values.contains_key(Self::SESSIONS)
    }

    /// The values of all keys but its sessions, which its curve is named by.
    pub fn without_sessions(&self) -> BTreeMap<String, String> {
        let mut values = self.values.clone();
        values.remove(Self::SESSIONS);
        values
    }

    /// The number under `key`; `None` without one.
    pub fn number<T: FromStr>(&self, key: &str) -> Option<T> {
        self.values.get(key)?.parse().ok()
    }

    /// Length of a block in bytes; `None` if not given.
    pub fn block_bytes(&self) -> Option<u64> {
        self.bytes("block_size")
    }

    /// The size in bytes under `key`; `None` without one.
    pub fn bytes(&self, key: &str) -> Option<u64> {
        units::parse_bytes(self.values.get(key)?).ok()
    }

    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// Values of a point in words: `sessions 8, work_unit 1`.
pub fn values_in_words(values: &BTreeMap<String, String>) -> String {
    values.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>().join(", ")
}

/// A command of the user that ran during the steps of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRecord {
    /// `before` all steps or `after` them.
    pub moment: String,
    /// When it began, us since the epoch on this host's clock.
    pub begin_us: i64,
    pub end_us: i64,
}

/// Readings of a source of circumstances: all at first, then only changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    pub source: String,
    /// The boundary of slices at the reading; `None` before the step.
    pub boundary: Option<u32>,
    pub phase: Phase,
    /// When they were read, us since the epoch on this host's clock.
    pub at_us: i64,
    pub values: Vec<Circumstance>,
}
