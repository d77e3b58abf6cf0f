//! The table of the namespace in which ranks meet.

use std::time::Duration;

use mindful_core::ranks::rendezvous::{MAX_CHUNK_BYTES, Rendezvous};
use mindful_core::{Error, Result};
use mindful_sql::meeting::{Answer, Dialect, Server as MeetingServer, TableRendezvous};
use mysql_common::row::Row;
use mysql_common::value::convert::from_value;

use crate::connect::Conn;
use crate::connect::Server;
use crate::connect::link::Link;
use crate::dataset::registry;
use crate::error::Failure;
use crate::names::{MARK, MEETING, Namespace};

/// Number of attempts to find the table: of ranks that make it together, one succeeds and the others find it then.
const TRIES: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Most bytes of a statement: a chunk in digits, and words around it.
const MOST_STATEMENT: u64 = 1 << 20;

/// `ER_LOCK_DEADLOCK`: nothing was done, and all of it may be done again.
const DEADLOCK: u16 = 1213;

const DIALECT: Dialect = Dialect {
    text: ["_utf8mb4 x'", "'"],
    bytes: ["x'", "'"],
    now: include_str!("../sql/meeting/now.sql"),
    tidy: include_str!("../sql/meeting/tidy.sql"),
    join: &[include_str!("../sql/meeting/come.sql"), include_str!("../sql/meeting/take_place.sql")],
    post: include_str!("../sql/meeting/post.sql"),
    look: include_str!("../sql/meeting/look.sql"),
    send: include_str!("../sql/meeting/send.sql"),
    take: include_str!("../sql/meeting/take.sql"),
    clear: include_str!("../sql/meeting/clear.sql"),
};

/// The link by which the table is read: apart from the target's.
struct Meeting {
    link: Link,
    namespace: Namespace,
}

/// Connects to `server`. `place` is its name in messages.
pub(crate) fn open(server: Server, namespace: Namespace, place: String) -> Result<Box<dyn Rendezvous>> {
    const { assert!(2 * MAX_CHUNK_BYTES < MOST_STATEMENT as usize, "a chunk fits into a statement") };
    let server = Meeting { link: Link::new(server), namespace };
    server.link.version()?;
    server.refuse_short_statements(&place)?;
    Ok(Box::new(TableRendezvous { server, dialect: DIALECT, place }))
}

impl Meeting {
    fn make(&self) -> Result<()> {
        registry::ensure(&self.link, &self.namespace)?;
        let sql = include_str!("../sql/meeting/create.sql").replace("{{mark}}", MARK);
        self.run("making a place to meet", &sql).map(drop)
    }

    fn refuse_short_statements(&self, place: &str) -> Result<()> {
        let most: Option<u64> = self
            .link
            .run("asking for max_allowed_packet", |conn| conn.query_first("SELECT @@SESSION.max_allowed_packet"))?;
        match most {
            Some(most) if most < MOST_STATEMENT => Err(Error::target(
                format!("{place} accepts statements of at most {most} bytes, and ranks publish longer ones"),
                format!("SET GLOBAL max_allowed_packet = {MOST_STATEMENT}, or meet elsewhere with --meet"),
            )),
            _ => Ok(()),
        }
    }
}

fn answer(conn: &mut Conn, sql: &str) -> Result<Answer, Failure> {
    let answer = conn.query_answer(sql)?;
    let texts = |row: Row| row.unwrap().into_iter().map(from_value).collect();
    Ok(Answer { rows: answer.rows.into_iter().map(texts).collect(), changed: answer.changed })
}

impl MeetingServer for Meeting {
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

    /// Runs it again if others were in its way.
    fn run(&self, what: &str, sql: &str) -> Result<Answer> {
        let sql = sql.replace("{{table}}", &self.namespace.qualified(MEETING));
        self.link.run(what, |conn| {
            let mut tries = 1;
            loop {
                match answer(conn, &sql) {
                    Err(failure) if failure.code() == Some(DEADLOCK) && tries < TRIES => tries += 1,
                    done => return done,
                }
            }
        })
    }

    fn abort(&self) {
        self.link.abort();
    }
}
