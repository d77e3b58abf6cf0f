//! Exit codes, and the line that an error prints.

use std::io::Write;
use std::process::ExitCode;

use mindful_core::plan::secret::without_secrets;
use mindful_core::{Error, ErrorKind};

use crate::plan_file::PlanFile;

/// How the process ends. The numbers are a contract with scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Ok,
    Invalid,
    /// Wrong command line or plan.
    Usage,
    /// The target is unreachable or refuses.
    Target,
    /// A comparison crossed its gate, or did not decide it.
    GateCrossed,
    /// Interrupted; the results so far are stored.
    Interrupted,
    /// The exit code of the command that `squeeze` ran.
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

/// Prints an error as one line on stderr, and returns the exit code. `plan` is the plan file of the verb.
pub(crate) fn conclude(outcome: Result<Exit, Error>, plan: Option<&PlanFile>) -> ExitCode {
    let exit = outcome.unwrap_or_else(|error| {
        let kind = error.kind;
        tell(&named(error, plan).to_string());
        kind.into()
    });
    ExitCode::from(exit.code())
}

/// The error, with a plan file that was found automatically: the error may come from it.
fn named(error: Error, plan: Option<&PlanFile>) -> Error {
    match plan {
        Some(file @ PlanFile::Found(path)) if !error.what.contains(&*path.to_string_lossy()) => {
            error.at(format_args!("plan: {} (found automatically)", file.path().display()))
        }
        _ => error,
    }
}

/// Prints a line on stderr, without secrets.
pub(crate) fn tell(text: &str) {
    // Nothing can be done about a closed stderr.
    let _ = writeln!(std::io::stderr(), "mindful: {}", mindful_report::escape(&without_secrets(text)));
}
