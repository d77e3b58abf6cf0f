//! Exit codes, and how an error leaves the process.

use std::io::Write;
use std::process::ExitCode;

use mindful_core::plan::secret::without_secrets;
use mindful_core::{Error, ErrorKind};

use crate::plan_file::PlanFile;

/// How the process ends. The numbers are a contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Ok,
    /// The run is invalid.
    Invalid,
    /// The command line or the plan cannot be carried out.
    Usage,
    /// The target is unreachable or refuses.
    Target,
    /// A comparison crossed its gate.
    GateCrossed,
    /// Interrupted; what was measured is stored and readable.
    Interrupted,
    /// The exit code of a command that was run.
    Passed(u8),
}

impl Exit {
    const fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Invalid => 1,
            Self::Usage => 2,
            Self::Target => 3,
            Self::GateCrossed => 4,
            Self::Interrupted => 130,
            Self::Passed(code) => code,
        }
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Plan => Self::Usage,
            ErrorKind::Target => Self::Target,
            ErrorKind::Run => Self::Invalid,
            ErrorKind::Interrupted => Self::Interrupted,
        }
    }
}

/// Tells an error on stderr, in one line, and gives the exit code. `plan` is the plan file that the verb read.
pub fn conclude(outcome: Result<Exit, Error>, plan: Option<&PlanFile>) -> ExitCode {
    let exit = outcome.unwrap_or_else(|error| {
        let kind = error.kind;
        tell(&named(error, plan).to_string());
        kind.into()
    });
    ExitCode::from(exit.code())
}

/// The error, with the plan file in front that nobody named: it may be what the error is about.
fn named(error: Error, plan: Option<&PlanFile>) -> Error {
    match plan {
        Some(file @ PlanFile::Found(path)) if !error.what.contains(&*path.to_string_lossy()) => {
            error.at(format_args!("with {}, read by itself", file.path().display()))
        }
        _ => error,
    }
}

/// A line on stderr.
pub fn tell(text: &str) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "mindful: {}", mindful_report::escape(&without_secrets(text)));
}
