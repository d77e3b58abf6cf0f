//! Free connections of the role, by the tightest of the limits of server, role and database.

use std::thread;
use std::time::Duration;

use mindful_core::{Error, Result};
use tokio_postgres::{Client, Row};

use crate::connect::link::Link;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpareConnections {
    pub free: i32,
    /// The limit: `max_connections is 100`.
    pub limit: String,
    pub most: i32,
    /// The command that raises it: the words before and after the number.
    pub remedy: (String, String),
}

impl SpareConnections {
    pub(crate) async fn read(client: &Client) -> Result<Option<Self>, tokio_postgres::Error> {
        let bounds = client.query(include_str!("../../sql/capacity.sql"), &[]).await?;
        Ok(bounds.first().map(Self::from_row))
    }

    fn from_row(row: &Row) -> Self {
        let (kind, name): (&str, &str) = (row.get("kind"), row.get("name"));
        let (most, reserved): (i32, i32) = (row.get("most"), row.get("reserved"));
        let own_limit = |owner: &str| {
            let words = (format!("ALTER {owner} {name} CONNECTION LIMIT "), String::new());
            (format!("{} {name} has CONNECTION LIMIT {most}", owner.to_lowercase()), words)
        };
        let (limit, remedy) = match kind {
            "role" => own_limit("ROLE"),
            "database" => own_limit("DATABASE"),
            _ => {
                let kept = if reserved > 0 { format!(", {reserved} of them reserved") } else { String::new() };
                let grant = format!(", or GRANT pg_use_reserved_connections TO {name}");
                let granted = if row.get("may_be_granted") { grant } else { String::new() };
                let words = ("ALTER SYSTEM SET max_connections = ".to_owned(), format!(" and restart{granted}"));
                (format!("max_connections is {most}{kept}"), words)
            }
        };
        Self { free: row.get("free"), limit, most, remedy }
    }

    /// Why `wanted` additional connections do not fit. `what` names them in the message, `flag` reduces them, and `own`
    /// more are needed besides them.
    pub(crate) fn refusal(&self, wanted: i32, what: &str, flag: &str, own: i32) -> Option<Error> {
        let free = (self.free - own).max(0);
        (wanted > free).then(|| {
            let (before, behind) = &self.remedy;
            let number = self.most.saturating_sub(self.free).saturating_add(own).saturating_add(wanted);
            let fewer = if free > 0 { format!("run with {flag} {free} or ") } else { String::new() };
            Error::plan(
                format!("{wanted} {what} do not fit: {}, {free} are free", self.limit),
                format!("{fewer}{before}{number}{behind}"),
            )
        })
    }
}

/// Number and interval of checks of a server that seems full: an ended session still counts for a moment.
const LOOKS: u32 = 10;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Returns the error of [`SpareConnections::refusal`] for the server of `link`.
pub(crate) fn check(link: &Link, wanted: u32, what: &str, flag: &str, own: i32) -> Result<()> {
    let wanted = i32::try_from(wanted).unwrap_or(i32::MAX);
    let mut looks = 0;
    loop {
        let control = link.control()?;
        let room = link.run("checking for room", async { Ok(SpareConnections::read(&control).await?) })?;
        drop(control);
        let refused = room.and_then(|room| room.refusal(wanted, what, flag, own));
        looks += 1;
        match refused {
            None => return Ok(()),
            Some(error) if looks >= LOOKS => return Err(error),
            Some(_) => thread::sleep(BETWEEN_LOOKS),
        }
    }
}
