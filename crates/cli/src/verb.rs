//! A verb of the command line, declared in one value: name, help, arguments and function.
//!
//! Each verb has a file in `commands/` with its value, and `commands` has the table of all of them in their groups.
//! `args` makes clap's grammar and `mindful --help` from that table, so a new verb is a file and a line.
//!
//! ripgrep declares its flags in the same way. clap's derive was rejected: most flags here are plan keys, which are rows of
//! tables that engines extend, and not fields of a struct.

use clap::{Arg, ArgMatches, Command};
use mindful_core::Result;

use crate::exit::Exit;

/// All verbs in the order of `mindful --help`: the heading of a group, and its verbs. A group without a heading is
/// hidden.
pub(crate) type Groups = &'static [(&'static str, &'static [&'static Verb])];

pub(crate) struct Verb {
    pub name: &'static str,
    /// One line, for the list of verbs and the first line of its help.
    pub about: &'static str,
    /// Its effect in detail: one to three sentences.
    pub details: &'static str,
    pub example: &'static str,
    pub page: &'static str,
    /// The plan keys in its short help, with blanks between them; a verb without them takes no plan.
    pub plan: Option<&'static str>,
    pub arguments: fn() -> Vec<Arg>,
    pub action: Action,
}

pub(crate) enum Action {
    Run(fn(&ArgMatches) -> Result<Exit>),
    /// It prints the command line itself: every verb, with the shown flags.
    Describe(fn(&ArgMatches, &dyn Fn(Shown) -> Command) -> Result<Exit>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Common,
    AllKeys,
    /// All plan keys and engine options, for completion.
    Everything,
}
