//! Privileges of the role, checked before anything is loaded; missing ones have their GRANT.

use mindful_core::{Error, Result};
use tokio_postgres::Client;

use crate::connect::link::Link;
use crate::names::Namespace;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent rights")]
pub(crate) struct Rights {
    /// The server is a standby, or the role or database is read-only.
    pub read_only: bool,
    /// TEMP on the database: the server-side loop is a function in the session's temporary schema.
    pub may_install: bool,
    /// CREATE on the database, or the namespace is there.
    pub may_create: bool,
    pub may_checkpoint: bool,
    pub role: String,
    pub database: String,
}

impl Rights {
    pub(crate) async fn read(client: &Client, namespace: &Namespace) -> Result<Self, tokio_postgres::Error> {
        let row = client.query_one(include_str!("../../sql/rights.sql"), &[&namespace.name]).await?;
        Ok(Self {
            read_only: row.get("read_only"),
            may_install: row.get("may_install"),
            may_create: row.get("may_create"),
            may_checkpoint: row.get("may_checkpoint"),
            role: row.get("role"),
            database: row.get("database"),
        })
    }

    fn grant(&self, right: &str) -> String {
        format!("GRANT {right} ON DATABASE {} TO {}", self.database, self.role)
    }

    pub(crate) fn no_create(&self) -> Option<Error> {
        (!self.may_create).then(|| {
            let what = format!("the role {} has no CREATE right on the database {}", self.role, self.database);
            Error::target(what, self.grant("CREATE"))
        })
    }

    pub(crate) fn no_temp(&self) -> Option<Error> {
        (!self.may_install).then(|| {
            let what = "the role has no TEMP right on the database, which the server-side loop needs";
            Error::target(what, format!("{}, or run with --loop client", self.grant("TEMPORARY")))
        })
    }

    pub(crate) fn no_writes(&self) -> Option<Error> {
        self.read_only.then(|| {
            Error::target("the server is read-only", "name the primary in the URL, or run --loop client --update-pct 0")
        })
    }

    /// The first reason to refuse a workload that loops `in_server` or `updates`.
    pub(crate) fn refusal(&self, in_server: bool, updates: bool) -> Option<Error> {
        let writes = if in_server || updates { self.no_writes() } else { None };
        writes.or_else(|| if in_server { self.no_temp() } else { None })
    }
}

pub(crate) fn read_rights(link: &Link, namespace: &Namespace) -> Result<Rights> {
    let control = link.control()?;
    link.run("checking for rights", async { Ok(Rights::read(&control, namespace).await?) })
}
