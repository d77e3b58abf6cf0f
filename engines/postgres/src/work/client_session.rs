//! A session with its work loop in mindful: a prepared statement for each operation, as in an application.

use std::collections::BTreeMap;
use std::sync::Arc;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, OpKind, Redo, Workload};
use mindful_core::{Error, Result, Session};
use mindful_sql::work::CommitPolicy;
use tokio_postgres::Statement;

use crate::connect::Connection;
use crate::connect::abort::{Presence, Sessions};
use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::observe::counters;
use crate::template::render;

pub(crate) struct ClientSession {
    work: ClientLoop,
    statements: Statements,
}

impl ClientSession {
    pub(crate) fn open(
        link: &Arc<Link>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
        sessions: &Arc<Sessions>,
    ) -> Result<Self> {
        let (client, place) = link.connect_session(workload, placement)?;
        let work = ClientLoop::new(workload, placement);
        let prepared = link.run_on(&client, &place, async {
            let mut prepared = BTreeMap::new();
            for schema in work.draws.schemas() {
                prepared.insert(schema, Prepared::prepare(&client, workload, namespace, schema).await?);
            }
            Ok(prepared)
        })?;
        let presence = sessions.enter(&client, placement.session).map_err(|error| error.at(&place))?;
        let (link, commits) = (Arc::clone(link), CommitPolicy::new(workload.commit));
        let statements = Statements { link, client, place, prepared, commits, _presence: presence };
        Ok(Self { work, statements })
    }
}

impl Session for ClientSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.work.run_slice(order, &mut self.statements)
    }
}

struct Prepared {
    select: Statement,
    update: Statement,
    scan: Option<Statement>,
}

impl Prepared {
    async fn prepare(
        client: &Connection,
        workload: &Workload,
        namespace: &Namespace,
        schema: u32,
    ) -> Result<Self, Failure> {
        let table = namespace.table(TableKind::Blocks, schema);
        let update = match workload.redo {
            Redo::Light => include_str!("../../sql/update_light.sql"),
            Redo::Heavy => include_str!("../../sql/update_heavy.sql"),
        };
        let values = [("table", &*table), ("first_key", "$1::bigint"), ("reach", "$2::bigint")];
        let scan =
            format!("SELECT count(seq) FROM {}", namespace.table(TableKind::scanned_by(workload.access), schema));
        Ok(Self {
            select: client.prepare(&select(&table)).await?,
            update: client.prepare(&render(update, &values)).await?,
            scan: if workload.scan_pct.is_none() { None } else { Some(client.prepare(&scan).await?) },
        })
    }
}

/// A read of the keys `$1` to `$1 + $2`.
fn select(table: &str) -> String {
    format!("SELECT count(seq) FROM {table} WHERE k BETWEEN $1::bigint AND $1::bigint + $2::bigint")
}

struct Statements {
    client: Connection,
    /// Dropped after the connection, because it waits for its end.
    link: Arc<Link>,
    place: String,
    prepared: BTreeMap<u32, Prepared>,
    commits: CommitPolicy,
    _presence: Presence,
}

impl Statements {
    fn prepared_for(&self, op: &Op) -> Result<&Prepared, Failure> {
        let found = self.prepared.get(&op.schema);
        found.ok_or_else(|| Error::run(format!("nothing is prepared for schema {}", op.schema), "report this").into())
    }

    async fn count(&self, statement: &Statement, op: &Op) -> Result<u64, Failure> {
        let row = match op.kind {
            OpKind::Scan => self.client.query_one(statement, &[]).await?,
            _ => self.client.query_one(statement, &[&(op.first_key as i64), &(op.blocks as i64 - 1)]).await?,
        };
        Ok(row.get::<_, i64>(0).unsigned_abs())
    }

    async fn update(&mut self, op: &Op) -> Result<u64, Failure> {
        if self.commits.begins() {
            self.client.batch_execute("BEGIN").await?;
        }
        let prepared = self.prepared_for(op)?;
        let rows = self.client.execute(&prepared.update, &[&(op.first_key as i64), &(op.blocks as i64 - 1)]).await?;
        if self.commits.count_update() {
            self.end_transaction().await?;
        }
        Ok(rows)
    }

    async fn end_transaction(&mut self) -> Result<(), Failure> {
        if self.commits.end() && !self.commits.is_autocommit() {
            self.client.batch_execute("COMMIT").await?;
        }
        Ok(())
    }
}

impl Operator for Statements {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        let link = Arc::clone(&self.link);
        let done = link.wait(async {
            if op.kind == OpKind::Update {
                return self.update(op).await;
            }
            let prepared = self.prepared_for(op)?;
            let statement = prepared.scan.as_ref().filter(|_| op.kind == OpKind::Scan).unwrap_or(&prepared.select);
            self.count(statement, op).await
        });
        done.map_err(|failure| link.session_failed(&self.client, &self.place, failure))
    }

    /// Commits an open transaction and makes the counters of this session exact.
    fn end_slice(&mut self) -> Result<()> {
        let link = Arc::clone(&self.link);
        let done = link.wait(async {
            self.end_transaction().await?;
            counters::publish(&self.client).await
        });
        done.map_err(|failure| link.session_failed(&self.client, &self.place, failure))
    }
}
