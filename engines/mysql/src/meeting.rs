//! Ranks that meet in a table of the namespace: plain rows, each call complete statements, as text and never prepared.
//! So a pooler between them and the server does no harm.

use std::fmt::Write as _;
use std::time::Duration;

use mindful_core::ranks::rendezvous::{MAX_CHUNK_BYTES, PeerRow, RETENTION, RankRow, Rendezvous};
use mindful_core::{Error, Result};
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::connect::link::Link;
use crate::connect::{Server, code};
use crate::dataset::registry;
use crate::error::Failure;
use crate::names::{MARK, MEETING, Namespace};

/// Number of attempts to find the table: of ranks that make it together, one succeeds and the others find it then.
const TRIES: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The place of rows instead of a chunk's number, and of all ranks instead of one.
const NONE: i64 = -1;

/// Most bytes of a statement: a chunk in digits, and words around it.
const MOST_STATEMENT: u64 = 1 << 20;

/// `ER_LOCK_DEADLOCK`: nothing was done, and all of it may be done again.
const DEADLOCK: u16 = 1213;

/// A table in the namespace, and the link that it is read by: apart from the target's.
pub(crate) struct MysqlRendezvous {
    link: Link,
    namespace: Namespace,
    place: String,
}

type Values<'a> = &'a [(&'a str, String)];

impl MysqlRendezvous {
    /// Connects to `server`. `place` is its name in messages.
    pub(crate) fn open(server: Server, namespace: Namespace, place: String) -> Result<Self> {
        const { assert!(2 * MAX_CHUNK_BYTES < MOST_STATEMENT as usize, "a chunk fits into a statement") };
        let meeting = Self { link: Link::new(server), namespace, place };
        meeting.link.version()?;
        meeting.refuse_short_statements()?;
        Ok(meeting)
    }

    fn make(&self) -> Result<()> {
        registry::ensure(&self.link, &self.namespace)?;
        let sql = include_str!("../sql/meeting/create.sql").replace("{{mark}}", MARK);
        self.ask("making a place to meet", &sql, &[], |conn, sql| Ok(conn.query_drop(sql)?))
    }

    fn refuse_short_statements(&self) -> Result<()> {
        let most: Option<u64> = self.link.run("asking for max_allowed_packet", |conn| {
            Ok(conn.query_first("SELECT @@SESSION.max_allowed_packet")?)
        })?;
        match most {
            Some(most) if most < MOST_STATEMENT => Err(Error::target(
                format!("{} accepts statements of at most {most} bytes, and ranks publish longer ones", self.place),
                format!("SET GLOBAL max_allowed_packet = {MOST_STATEMENT}, or meet elsewhere with --meet"),
            )),
            _ => Ok(()),
        }
    }

    /// Does one statement, and again where others were in its way.
    fn ask<T>(
        &self,
        what: &str,
        template: &str,
        values: Values<'_>,
        work: impl Fn(&mut Conn, &str) -> Result<T, Failure>,
    ) -> Result<T> {
        let sql = template.replace("{{table}}", &self.namespace.qualified(MEETING));
        let sql = values.iter().fold(sql, |sql, (name, value)| sql.replace(&format!("{{{{{name}}}}}"), value));
        self.link.run(what, |conn| {
            let mut tries = 1;
            loop {
                match work(conn, &sql) {
                    Err(Failure::Server(error)) if code(&error) == Some(DEADLOCK) && tries < TRIES => tries += 1,
                    done => return done,
                }
            }
        })
    }

    /// Runs one that returns no rows; returns the number of changed rows.
    fn change_rows(&self, what: &str, template: &str, values: Values<'_>) -> Result<u64> {
        self.ask(what, template, values, |conn, sql| {
            conn.query_drop(sql)?;
            Ok(conn.affected_rows())
        })
    }

    fn seen(&self, job: &str, rank: i64) -> Result<Vec<PeerRow>> {
        let values = [("job", text_literal(job)), ("rank", rank.to_string())];
        self.ask("reading the rows of the ranks", include_str!("../sql/meeting/look.sql"), &values, |conn, sql| {
            Ok(conn.query_map(sql, |(rank, token, body, expired)| PeerRow {
                row: RankRow { rank, token, body },
                expired,
            })?)
        })
    }
}

/// A text literal as hexadecimal digits, independent of the server's quoting.
fn text_literal(text: &str) -> String {
    format!("_utf8mb4 {}", digits(text.as_bytes()))
}

fn digits(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len() + 3);
    digits.push_str("x'");
    for byte in bytes {
        let _ = write!(digits, "{byte:02x}");
    }
    digits.push('\'');
    digits
}

fn micros(time: Duration) -> String {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX / 4).to_string()
}

fn row_values(job: &str, row: &RankRow, lease: Duration) -> [(&'static str, String); 5] {
    [
        ("job", text_literal(job)),
        ("rank", row.rank.to_string()),
        ("token", text_literal(&row.token)),
        ("body", text_literal(&row.body)),
        ("lease_us", micros(lease)),
    ]
}

impl Rendezvous for MysqlRendezvous {
    fn location(&self) -> String {
        self.place.clone()
    }

    fn prepare(&self) -> Result<()> {
        let mut made = Ok(());
        for _ in 0..TRIES {
            if registry::has_meeting(&self.link, &self.namespace)? {
                return Ok(());
            }
            if made.is_err() {
                std::thread::sleep(LOOK_AGAIN);
            }
            made = self.make();
        }
        made
    }

    fn now_us(&self) -> Result<i64> {
        let now: Option<i64> =
            self.ask("reading the meeting's clock", include_str!("../sql/meeting/now.sql"), &[], |conn, sql| {
                Ok(conn.query_first(sql)?)
            })?;
        now.ok_or_else(|| Error::target("the server does not return its time", "read its log"))
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        let kept = [("kept_us", micros(RETENTION))];
        self.change_rows("tidying the place to meet", include_str!("../sql/meeting/tidy.sql"), &kept)?;
        let said = row_values(job, row, lease);
        self.change_rows("joining the others", include_str!("../sql/meeting/come.sql"), &said)?;
        self.change_rows("joining the others", include_str!("../sql/meeting/take_place.sql"), &said)?;
        let holds = self.read_row(job, row.rank)?.map(|seen| seen.row);
        Ok(holds.filter(|holds| holds.token != row.token))
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        Ok(self.change_rows(
            "publishing to the other ranks",
            include_str!("../sql/meeting/post.sql"),
            &row_values(job, row, lease),
        )? > 0)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.seen(job, NONE)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        Ok(self.seen(job, rank.into())?.pop())
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        let values = [
            ("job", text_literal(job)),
            ("rank", rank.to_string()),
            ("chunk", chunk.to_string()),
            ("bytes", digits(bytes)),
        ];
        self.change_rows("publishing the measurements", include_str!("../sql/meeting/send.sql"), &values).map(drop)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        let values = [("job", text_literal(job)), ("rank", rank.to_string()), ("chunk", chunk.to_string())];
        self.ask("reading the measurements", include_str!("../sql/meeting/take.sql"), &values, |conn, sql| {
            Ok(conn.query_first(sql)?)
        })
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        let values = [("job", text_literal(job)), ("rank", rank.map_or(NONE, i64::from).to_string())];
        self.change_rows("clearing the place to meet", include_str!("../sql/meeting/clear.sql"), &values).map(drop)
    }

    fn abort(&self) {
        self.link.abort();
    }
}
