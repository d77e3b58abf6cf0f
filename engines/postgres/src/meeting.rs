//! The table of the namespace in which ranks meet.

use std::time::Duration;

use mindful_core::ranks::rendezvous::Rendezvous;
use mindful_core::{Error, Result};
use mindful_sql::meeting::{Answer, Dialect, Server as MeetingServer, TableRendezvous};
use tokio_postgres::SimpleQueryMessage;

use crate::connect::link::Link;
use crate::connect::{Connection, Server};
use crate::dataset::registry;
use crate::error::Failure;
use crate::names::Namespace;
use crate::template::{quote_literal, render};

/// Number of attempts to find the table: of ranks that make it together, one succeeds and the others find it then.
const TRIES: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

const DIALECT: Dialect = Dialect {
    text: ["convert_from(decode('", "', 'hex'), 'UTF8')"],
    bytes: ["decode('", "', 'hex')"],
    now: include_str!("../sql/meeting/now.sql"),
    tidy: include_str!("../sql/meeting/tidy.sql"),
    join: &[include_str!("../sql/meeting/join.sql")],
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
    let server = Meeting { link: Link::new(server)?, namespace };
    server.link.control()?;
    Ok(Box::new(TableRendezvous { server, dialect: DIALECT, place }))
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

impl MeetingServer for Meeting {
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

    fn run(&self, what: &str, sql: &str) -> Result<Answer> {
        let sql = sql.replace("{{table}}", &format!("{}.meeting", self.namespace.quoted()));
        let client = self.link.control()?;
        let messages = self.link.run(what, async { Ok(client.simple_query(&sql).await?) })?;
        let mut answer = Answer::default();
        for message in messages {
            match message {
                SimpleQueryMessage::Row(row) => {
                    let value = |at| row.get(at).unwrap_or_default().to_owned();
                    answer.rows.push((0..row.len()).map(value).collect());
                }
                SimpleQueryMessage::CommandComplete(changed) => answer.changed = changed,
                _ => {}
            }
        }
        Ok(answer)
    }

    fn abort(&self) {
        self.link.abort();
    }
}
