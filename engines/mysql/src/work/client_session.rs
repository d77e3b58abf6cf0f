//! A session with its work loop in mindful: a prepared statement for each operation, as in an application.

use std::collections::BTreeMap;
use std::sync::Arc;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, OpKind, Workload};
use mindful_core::{Error, Result, Session};

use crate::connect::Conn;
use crate::connect::client::Statement;
use crate::connect::link::{Link, Open};
use crate::error::Failure;
use crate::names::Namespace;
use crate::work::commit::{Commits, Committed};
use crate::work::statement;

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
        committed: &Arc<Committed>,
    ) -> Result<Self> {
        let (mut conn, place) = link.connect_session(placement)?;
        let work = ClientLoop::new(workload, placement);
        let schemas = work.draws.schemas();
        let prepared = link.run_on(&mut conn, &place, |conn| {
            let on = |schema: &u32| Ok((*schema, Prepared::prepare(conn, workload, namespace, *schema)?));
            schemas.iter().map(on).collect::<Result<BTreeMap<_, _>, Failure>>()
        })?;
        link.wait_for_answers(&mut conn, &place)?;
        let commits = Commits::new(workload.commit, committed);
        Ok(Self { work, statements: Statements { link: Arc::clone(link), conn, place, prepared, commits } })
    }
}

impl Session for ClientSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.work.run_slice(order, &mut self.statements)
    }
}

struct Prepared {
    select: Statement,
    update: Option<Statement>,
    scan: Option<Statement>,
}

impl Prepared {
    fn prepare(conn: &mut Conn, workload: &Workload, namespace: &Namespace, schema: u32) -> Result<Self, Failure> {
        let mut some = |wanted: bool, text: String| wanted.then(|| conn.prep(text)).transpose();
        Ok(Self {
            update: some(!workload.update_pct.is_none(), statement::update(workload, namespace, schema))?,
            scan: some(!workload.scan_pct.is_none(), statement::scan(workload, namespace, schema))?,
            select: conn.prep(statement::select(namespace, schema))?,
        })
    }
}

struct Statements {
    link: Arc<Link>,
    conn: Open,
    place: String,
    prepared: BTreeMap<u32, Prepared>,
    commits: Commits,
}

impl Operator for Statements {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        let missing = || Error::run(format!("nothing is prepared for schema {}", op.schema), "report this");
        let on = self.prepared.get(&op.schema).ok_or_else(missing)?;
        let commits = &mut self.commits;
        let keys = [op.first_key.into(), op.last_key().into()];
        self.link.run_on(&mut self.conn, &self.place, |conn| match op.kind {
            OpKind::Select => {
                let read = conn.execute(&on.select, &keys)?;
                Ok(read.rows.first().and_then(|row| row.get(0)).unwrap_or(0))
            }
            OpKind::Update => {
                commits.before(conn)?;
                let changed = conn.execute(on.update.as_ref().ok_or_else(missing)?, &keys)?.changed;
                commits.after(conn)?;
                Ok(changed)
            }
            OpKind::Scan => {
                let scanned = conn.execute(on.scan.as_ref().ok_or_else(missing)?, &[])?;
                Ok(scanned.rows.first().and_then(|row| row.get(1)).unwrap_or(0))
            }
        })
    }

    fn interrupted(&self) -> bool {
        self.link.abort_state().is_interrupted()
    }

    fn end_slice(&mut self) -> Result<()> {
        let commits = &mut self.commits;
        self.link.run_on(&mut self.conn, &self.place, |conn| commits.end_slice(conn))
    }
}
