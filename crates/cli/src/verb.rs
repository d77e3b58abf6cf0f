//! A verb of the command line, declared in one value: name, group, help, arguments and function.
//!
//! Each verb has a file in `commands/` with its value, and `commands` has the table of all of them. `args` makes clap's
//! grammar and `mindful --help` from that table, so a new verb is a file and a line.
//!
//! ripgrep declares its flags in the same way. clap's derive was rejected: most flags here are plan keys, which are rows of
//! tables that engines extend, and not fields of a struct.

use clap::{Arg, ArgMatches, Command};
use mindful_core::Result;

use crate::exit::Exit;

pub(crate) struct Verb {
    pub name: &'static str,
    /// Where `mindful --help` lists it; a hidden verb has no group.
    pub group: Option<Group>,
    /// One line, for the list of verbs and the first line of its help.
    pub about: &'static str,
    /// Its effect in detail: one to three sentences.
    pub details: &'static str,
    pub example: &'static str,
    pub page: &'static str,
    pub plan: PlanKeys,
    pub arguments: fn() -> Vec<Arg>,
    pub action: Action,
}

/// Whether a verb takes the plan, and which of its keys are in its short help.
pub(crate) enum PlanKeys {
    None,
    Shown(&'static [&'static str]),
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Measure,
    Judge,
    Keep,
    Data,
    OldResults,
    SeveralMachines,
    Setup,
}

impl Group {
    /// All groups in the order of `mindful --help`, with their headings.
    pub(crate) const ALL: [(Self, &str); 7] = [
        (Self::Measure, "Measure"),
        (Self::Judge, "Judge"),
        (Self::Keep, "Keep"),
        (Self::Data, "Data"),
        (Self::OldResults, "Old results"),
        (Self::SeveralMachines, "Several machines"),
        (Self::Setup, "Setup"),
    ];
}
