//! Ranks that meet in a table of the namespace: plain rows, one statement at a time, nothing that belongs to a
//! connection. So a pooler between them and the server does no harm.

use std::time::Duration;

use mindful_core::ranks::rendezvous::{PeerRow, RETENTION, RankRow, Rendezvous};
use mindful_core::{Error, Result};
use tokio_postgres::types::{ToSql, Type};

use crate::connect::link::Link;
use crate::connect::{Connection, Server};
use crate::dataset::registry;
use crate::error::Failure;
use crate::names::Namespace;
use crate::template::{quote_literal, render};

/// Number of attempts to find the table: of ranks that make it together, one succeeds and the others find it then.
const TRIES: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The place of rows instead of a chunk's number, and of all ranks instead of one.
const NONE: i32 = -1;

/// A table in the namespace, and the link that it is read by: apart from the target's.
pub(crate) struct PostgresRendezvous {
    link: Link,
    namespace: Namespace,
    place: String,
}

impl PostgresRendezvous {
    /// Connects to `server`. `place` is its name in messages.
    pub(crate) fn open(server: Server, namespace: Namespace, place: String) -> Result<Self> {
        let meeting = Self { link: Link::new(server)?, namespace, place };
        meeting.link.control()?;
        Ok(meeting)
    }

    fn ask(
        &self,
        what: &str,
        template: &str,
        values: &[(&(dyn ToSql + Sync), Type)],
    ) -> Result<Vec<tokio_postgres::Row>> {
        let sql = render(template, &[("namespace", &self.namespace.quoted())]);
        let client = self.link.control()?;
        // Typed, and so never prepared under a name that a pooler would lose.
        self.link.run(what, async { Ok(client.query_typed(&sql, values).await?) })
    }

    /// Whether the row is this process's now.
    fn write_row(&self, what: &str, template: &str, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        let (rank, lease_us) = (number(row.rank), micros(lease));
        let values: [(&(dyn ToSql + Sync), Type); 5] = [
            (&job, Type::TEXT),
            (&rank, Type::INT4),
            (&row.token, Type::TEXT),
            (&row.body, Type::TEXT),
            (&lease_us, Type::INT8),
        ];
        Ok(!self.ask(what, template, &values)?.is_empty())
    }

    fn seen(&self, job: &str, rank: i32) -> Result<Vec<PeerRow>> {
        let sql = include_str!("../sql/meeting/look.sql");
        let rows = self.ask("reading the rows of the ranks", sql, &[(&job, Type::TEXT), (&rank, Type::INT4)])?;
        Ok(rows.iter().map(seen).collect())
    }
}

fn seen(row: &tokio_postgres::Row) -> PeerRow {
    let rank: i32 = row.get("rank");
    PeerRow {
        row: RankRow { rank: rank.unsigned_abs(), token: row.get("token"), body: row.get("body") },
        expired: row.get("expired"),
    }
}

/// Finds the table, or makes it with the namespace around it; fails where another rank was quicker.
async fn ensure(client: &Connection, namespace: &Namespace) -> Result<(), Failure> {
    let entries = registry::ensure(client, namespace).await?;
    if entries.iter().any(|entry| entry.table.stands && entry.meets) {
        return Ok(());
    }
    let table = quote_literal(&format!("{}.meeting", namespace.quoted()));
    let values = [("namespace", &*namespace.quoted()), ("table", &table)];
    // Statements sent together are one transaction.
    Ok(client.batch_execute(&render(include_str!("../sql/meeting/create.sql"), &values)).await?)
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX / 2)
}

fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Rendezvous for PostgresRendezvous {
    fn location(&self) -> String {
        self.place.clone()
    }

    fn prepare(&self) -> Result<()> {
        let mut last = None;
        for _ in 0..TRIES {
            let client = self.link.control()?;
            match self.link.wait(ensure(&client, &self.namespace)) {
                Ok(()) => return Ok(()),
                Err(Failure::Ours(error)) => return Err(error),
                Err(failure) => last = Some(failure),
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        let why = last.map_or_else(|| Error::target("it was never there", ""), |why| why.at("making a place to meet"));
        Err(why)
    }

    fn now_us(&self) -> Result<i64> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us";
        let rows = self.ask("reading the meeting's clock", sql, &[])?;
        rows.first()
            .map(|row| row.get("us"))
            .ok_or_else(|| Error::target("the server does not return its time", "read its log"))
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        self.ask(
            "tidying the place to meet",
            include_str!("../sql/meeting/tidy.sql"),
            &[(&micros(RETENTION), Type::INT8)],
        )?;
        if self.write_row("joining the others", include_str!("../sql/meeting/join.sql"), job, row, lease)? {
            return Ok(None);
        }
        Ok(self.read_row(job, row.rank)?.map(|seen| seen.row))
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        self.write_row("publishing to the other ranks", include_str!("../sql/meeting/post.sql"), job, row, lease)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.seen(job, NONE)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        Ok(self.seen(job, number(rank))?.pop())
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        let values: [(&(dyn ToSql + Sync), Type); 4] =
            [(&job, Type::TEXT), (&number(rank), Type::INT4), (&number(chunk), Type::INT4), (&bytes, Type::BYTEA)];
        self.ask("publishing the measurements", include_str!("../sql/meeting/send.sql"), &values).map(drop)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        let values: [(&(dyn ToSql + Sync), Type); 3] =
            [(&job, Type::TEXT), (&number(rank), Type::INT4), (&number(chunk), Type::INT4)];
        let rows = self.ask("reading the measurements", include_str!("../sql/meeting/take.sql"), &values)?;
        Ok(rows.first().map(|row| row.get("bytes")))
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        let rank = rank.map_or(NONE, number);
        let values: [(&(dyn ToSql + Sync), Type); 2] = [(&job, Type::TEXT), (&rank, Type::INT4)];
        self.ask("clearing the place to meet", include_str!("../sql/meeting/clear.sql"), &values).map(drop)
    }

    fn abort(&self) {
        self.link.abort();
    }
}
