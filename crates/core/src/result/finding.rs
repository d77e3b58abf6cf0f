//! What a reader of a result must know.

use serde::{Deserialize, Serialize};

pub mod codes;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Name of its [`Code`], such as `short-window`; a stored run may hold others.
    pub code: String,
    /// How much it matters.
    pub severity: Severity,
    /// What is, what it does to the result, what to do; a sentence or two.
    pub text: String,
    /// The figures behind it.
    pub evidence: String,
}

/// A kind of finding. Its name is stable; docs/findings.md has a paragraph of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    name: &'static str,
    usual: Severity,
}

impl Code {
    /// Only for [`finding_codes!`](crate::finding_codes), which lists what it makes.
    #[doc(hidden)]
    pub const fn listed(name: &'static str, usual: Severity) -> Self {
        Self { name, usual }
    }

    /// Its name: `short-window`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// How much such a finding matters, unless the run says otherwise.
    pub const fn usual_severity(self) -> Severity {
        self.usual
    }

    pub fn finding(self, text: impl Into<String>, evidence: impl Into<String>) -> Finding {
        Finding::new(self, self.usual, text, evidence)
    }
}

/// Defines kinds of findings, `NAME = "name", Severity;` each, and `ALL` of them.
#[macro_export]
macro_rules! finding_codes {
    ($($name:ident = $text:literal, $severity:ident;)*) => {
        $(
            #[doc = concat!("`", $text, "`")]
            pub const $name: $crate::result::finding::Code =
                $crate::result::finding::Code::listed($text, $crate::result::finding::Severity::$severity);
        )*
        pub const ALL: &[$crate::result::finding::Code] = &[$($name),*];
    };
}

impl Finding {
    /// A finding whose severity depends on the run.
    pub fn new(code: Code, severity: Severity, text: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { code: code.name.to_owned(), severity, text: text.into(), evidence: evidence.into() }
    }
}
