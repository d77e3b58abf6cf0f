//! The error type of all crates of mindful: what happened, on what, and the next step.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Cause of an error, coarse enough to choose an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The plan or the command line cannot be carried out (exit code 2).
    Plan,
    /// The target cannot be reached, or refuses us (exit code 3).
    Target,
    /// The work began and failed (exit code 1).
    Run,
    /// The user, or a signal, stopped it (exit code 130).
    Interrupted,
}

/// An error of one line: `what: next step`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// Cause, which decides the exit code.
    pub kind: ErrorKind,
    /// Event and object of the failure.
    pub what: String,
    /// The next step for the reader; may be empty if `what` implies it.
    pub next: String,
}

/// The result of anything that can fail with an [`struct@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The plan cannot be carried out.
    pub fn plan(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(ErrorKind::Plan, what, next)
    }

    /// The target cannot be used.
    pub fn target(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(ErrorKind::Target, what, next)
    }

    /// The work failed on its way.
    pub fn run(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(ErrorKind::Run, what, next)
    }

    /// The work was stopped from outside.
    pub fn interrupted(what: impl Into<String>) -> Self {
        Self::new(ErrorKind::Interrupted, what, "")
    }

    fn new(kind: ErrorKind, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { kind, what: what.into(), next: next.into() }
    }

    /// The same error of work that has not begun: a target that fails while it is opened cannot be used.
    #[must_use]
    pub fn of_target(mut self) -> Self {
        if self.kind == ErrorKind::Run {
            self.kind = ErrorKind::Target;
        }
        self
    }

    /// The error with its place in front: `place: what`. An error that already begins with that place is not changed.
    #[must_use]
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        let place = place.to_string();
        let named = self.what.strip_prefix(&place).is_some_and(|rest| rest.starts_with([':', ' ']));
        if !named {
            self.what = format!("{place}: {}", self.what);
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.what))?;
        if !self.next.is_empty() {
            write!(f, ": {}", one_line(&self.next))?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

/// Text from outside may carry newlines and control characters; an error stays one line.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_named_is_not_named_again() {
        let error = |what: &str| Error::run(what, "again").at("session 1").what;
        assert_eq!(error("the server is gone"), "session 1: the server is gone");
        assert_eq!(error("session 1: the server is gone"), "session 1: the server is gone");
        assert_eq!(error("session 1 was interrupted"), "session 1 was interrupted");
        assert_eq!(error("session 12: the server is gone"), "session 1: session 12: the server is gone");
    }

    #[test]
    fn an_error_is_one_line_whatever_it_quotes() {
        let error = Error::target("server said \"a\nb\x1b[31m\"", "try again");
        assert_eq!(error.to_string(), "server said \"a b [31m\": try again");
    }
}
