//! Chooses one of several hosts for a session.
//!
//! The hosts of a URL are alternatives, as in libpq: they are tried in turn, and the first that answers and is of the
//! required kind (`target_session_attrs`) is used. With `load_balance_hosts=random` each host is an endpoint, and
//! sessions are spread over them by their number: a draw would not be repeatable. If a session's host does not answer,
//! the session uses the next one.

use mindful_core::{Error, Result};

use super::connection::Connection;
use super::given::Parameters;

/// The kind of host that `target_session_attrs` requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    ReadWrite,
    ReadOnly,
    Primary,
    Standby,
    PreferStandby,
}

const NAMES: [(&str, Wanted); 6] = [
    ("any", Wanted::Any),
    ("read-write", Wanted::ReadWrite),
    ("read-only", Wanted::ReadOnly),
    ("primary", Wanted::Primary),
    ("standby", Wanted::Standby),
    ("prefer-standby", Wanted::PreferStandby),
];

impl Wanted {
    pub(super) fn in_parameters(parameters: &Parameters) -> Result<Self> {
        Ok(parameters.choice("target_session_attrs", &NAMES)?.unwrap_or(Self::Any))
    }

    pub(super) fn name(self) -> &'static str {
        NAMES.iter().find(|(_, wanted)| *wanted == self).map_or("", |(name, _)| name)
    }

    /// The requirements for passes over all hosts, in order.
    pub(super) fn passes(&self) -> &[Self] {
        if *self == Self::PreferStandby { &[Self::Standby, Self::Any] } else { std::slice::from_ref(self) }
    }

    pub(super) async fn check(self, connection: &Connection, place: &str) -> Result<()> {
        if self == Self::Any {
            return Ok(());
        }
        let asked = "SELECT pg_catalog.pg_is_in_recovery(), \
                     pg_catalog.current_setting('transaction_read_only') OPERATOR(pg_catalog.=) 'on'";
        let row = connection.query_one(asked, &[]).await.map_err(|error| connection.explain(&error))?;
        let (standby, read_only): (bool, bool) = (row.get(0), row.get(1));
        let is = match self {
            Self::Any | Self::PreferStandby => None,
            Self::ReadWrite => read_only.then_some("read only"),
            Self::ReadOnly => (!read_only).then_some("not read only"),
            Self::Primary => standby.then_some("a standby"),
            Self::Standby => (!standby).then_some("not a standby"),
        };
        match is {
            None => Ok(()),
            Some(is) => Err(Error::target(
                format!("{place}: the server is {is}"),
                "drop target_session_attrs, or name another host",
            )),
        }
    }
}

pub(super) fn is_balanced(parameters: &Parameters) -> Result<bool> {
    Ok(parameters.choice("load_balance_hosts", &[("disable", false), ("random", true)])?.unwrap_or(false))
}

/// The error if none of several hosts accepted a session.
pub(super) fn no_host(mut refused: Vec<Error>) -> Error {
    let Some(last) = refused.pop() else { return Error::target("the URL names no host", "name one") };
    if refused.is_empty() {
        return last;
    }
    let whats: Vec<_> = refused.iter().chain([&last]).map(|error| error.what.as_str()).collect();
    Error { what: format!("no host can be used: {}", whats.join("; ")), ..last }
}
