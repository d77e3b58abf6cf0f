//! Findings: conditions that affect the use of a result, and whether it may be quoted.

use serde::{Deserialize, Serialize};

pub mod codes;

stored_names! {
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Severity {
        /// Information without effect on the verdict.
        Info = "info",
        /// The result is suspect.
        Warning = "warning",
        /// The result is invalid.
        Error = "error",
    }
}

stored_names! {
    /// Whether a result may be quoted.
    #[derive(Default, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Validity {
        /// No doubt about the result.
        Valid = "VALID",
        /// Something may have spoiled it.
        Suspect = "SUSPECT",
        /// The result differs from the plan.
        #[default]
        Invalid = "INVALID",
    }
}

/// A condition that affects the use of a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Name of its [`Code`], such as `short-window`; a stored run may hold others.
    pub code: String,
    /// Its severity.
    pub severity: Severity,
    /// The condition, its effect on the result and the remedy; a sentence or two.
    pub text: String,
    /// The figures that support it.
    pub evidence: String,
}

/// A kind of finding. Its name is stable; docs/findings.md has a paragraph of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `short-window`.
    pub name: &'static str,
    /// Severity of such a finding, unless the run sets another.
    pub usual_severity: Severity,
}

impl Code {
    pub fn finding(self, text: impl Into<String>, evidence: impl Into<String>) -> Finding {
        Finding::new(self, self.usual_severity, text, evidence)
    }
}

/// Defines kinds of findings, `NAME = "name", Severity;` each, and `ALL` of them.
#[macro_export]
macro_rules! finding_codes {
    ($($name:ident = $text:literal, $severity:ident;)*) => {
        $(
            #[doc = concat!("`", $text, "`")]
            pub const $name: $crate::result::finding::Code = $crate::result::finding::Code {
                name: $text,
                usual_severity: $crate::result::finding::Severity::$severity,
            };
        )*
        pub const ALL: &[$crate::result::finding::Code] = &[$($name),*];
    };
}

/// Share of a host's CPUs that others may use before it is reported, before a run and in its window.
pub const OTHERS_BUSY: f64 = 0.05;

/// Findings before a run, each with the finding of the window that follows from it if nothing changes.
const FORETOLD: [(Code, Code); 4] = [
    (codes::BUSY_HOST, codes::FOREIGN_CPU),
    (codes::BUSY_DEVICE, codes::FOREIGN_READS),
    (codes::PAGE_CACHE_AHEAD, codes::PAGE_CACHE),
    (codes::CPU_STEAL, codes::CPU_STEAL),
];

impl Finding {
    /// The finding as severe as the one of a window that follows from it if nothing changes.
    #[must_use]
    pub fn foretold(self) -> Self {
        let follows = FORETOLD.iter().find(|(ahead, _)| ahead.name == self.code);
        let severity = follows.map_or(self.severity, |(_, window)| window.usual_severity.max(self.severity));
        Self { severity, ..self }
    }

    /// A finding with a severity that depends on the run.
    pub fn new(code: Code, severity: Severity, text: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { code: code.name.to_owned(), severity, text: text.into(), evidence: evidence.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_ahead_is_as_severe_as_the_one_that_follows() {
        let severity = |code: Code| code.finding("", "").foretold().severity;
        for code in [codes::BUSY_HOST, codes::BUSY_DEVICE, codes::PAGE_CACHE_AHEAD] {
            assert_eq!((code.usual_severity, severity(code)), (Severity::Info, Severity::Warning), "{}", code.name);
        }
        assert_eq!((severity(codes::SPACE_LOW), severity(codes::CONNECTIONS)), (Severity::Info, Severity::Error));
    }
}
