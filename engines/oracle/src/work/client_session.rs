//! A session with its work loop here: a statement for each operation, as in an application.

use std::sync::Arc;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, OpKind, Redo, Workload};
use mindful_core::{Error, Result, Session};
use mindful_sql::work::CommitPolicy;

use crate::connect::driver::{Bind, Connection, Failure};
use crate::connect::link::{Link, QUESTION, number};
use crate::connect::{Doing, explain};
use crate::names::{Namespace, TableKind};
use crate::observe::own::Own;
use crate::work::statement;

pub(crate) struct ClientSession {
    looping: ClientLoop,
    worker: Worker,
}

struct Worker {
    link: Arc<Link>,
    connection: Box<dyn Connection>,
    namespace: Namespace,
    redo: Redo,
    commit: String,
    place: String,
    commits: CommitPolicy,
    own: Arc<Own>,
}

impl ClientSession {
    /// Connects and reads one block, so that the first slice parses nothing.
    pub(crate) fn open(
        link: &Arc<Link>,
        own: &Arc<Own>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
    ) -> Result<Self> {
        let connection = link.connect_session(placement)?;
        let place = session_name(placement.session);
        let looping = ClientLoop::new(workload, placement);
        let mut worker = Worker {
            link: Arc::clone(link),
            connection,
            namespace: namespace.clone(),
            redo: workload.redo,
            commit: statement::client_commit(workload),
            place,
            commits: CommitPolicy::new(workload.commit),
            own: Arc::clone(own),
        };
        let first = looping.draws.op(0);
        worker.run(&Op { kind: OpKind::Select, ..first })?;
        Ok(Self { looping, worker })
    }
}

impl Session for ClientSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.looping.run_slice(order, &mut self.worker)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.own.leave(&mut *self.connection);
    }
}

impl Worker {
    fn run(&mut self, op: &Op) -> Result<u64> {
        let kind = if op.kind == OpKind::Scan { TableKind::Scan } else { TableKind::Blocks };
        let table = self.namespace.table(kind, op.schema);
        let range =
            [("first_key", Bind::Integer(op.first_key as i64)), ("last_key", Bind::Integer(op.last_key() as i64))];
        let failed = |failure: Failure| explain(&failure, Doing::Work, &self.place);
        let (sql, binds) = match op.kind {
            OpKind::Select => (statement::client_select(&table), &range[..]),
            OpKind::Scan => (statement::client_scan(&table), &range[..0]),
            OpKind::Update => {
                let sql = statement::client_update(&table, self.redo);
                let done = self.connection.execute(&sql, &range, QUESTION).map_err(failed)?;
                if self.commits.count_update() {
                    self.commit()?;
                }
                return Ok(done.rows);
            }
        };
        let rows = self.connection.query(&sql, binds, QUESTION).map_err(failed)?;
        rows.first().and_then(|row| number(row, 0)).ok_or_else(|| Error::run("a count came back empty", "run again"))
    }

    fn commit(&mut self) -> Result<()> {
        if self.commits.end() {
            let done = self.connection.execute(&self.commit, &[], QUESTION);
            done.map_err(|failure| explain(&failure, Doing::Work, &self.place))?;
        }
        Ok(())
    }
}

impl Operator for Worker {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        self.link.abort_state().refuse_interrupted(&self.place)?;
        self.run(op)
    }

    fn interrupted(&self) -> bool {
        self.link.abort_state().is_interrupted()
    }

    fn end_slice(&mut self) -> Result<()> {
        self.commit()
    }
}
