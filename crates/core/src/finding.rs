//! What a reader of a result must know.

use serde::{Deserialize, Serialize};

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// The result is suspect.
    Warning,
    /// The result is invalid.
    Error,
}

/// Something a reader of the result must know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable code, such as `short-window`.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is, what it does to the result, what to do; a sentence or two.
    pub text: String,
    /// The figures behind it.
    pub evidence: String,
}

impl Finding {
    /// A finding.
    pub fn new(code: &str, severity: Severity, text: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { code: code.to_owned(), severity, text: text.into(), evidence: evidence.into() }
    }
}
