//! A session with its work loop in the database: one PL/SQL block for each slice, or several if its operations do not
//! fit into one.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{Commit, Op, Workload};
use mindful_core::{Error, Result, Session};
use mindful_sql::connect::abort::interrupted;
use mindful_sql::work::Pause;

use crate::connect::driver::{Bind, Connection};
use crate::connect::link::{Link, QUESTION};
use crate::connect::{Doing, explain};
use crate::names::Namespace;
use crate::observe::own::Own;
use crate::work::ops::{self, Answer, Summed};
use crate::work::statement;

pub(crate) const MOST_SCHEMAS: usize = 128;

/// The first call is of so many operations; later ones of as many as fit into a slice.
const FIRST_CALL: usize = 256;

pub(crate) struct ServerLoop {
    link: Arc<Link>,
    connection: Box<dyn Connection>,
    block: String,
    commit: Option<String>,
    draws: Draws,
    schemas: BTreeSet<u32>,
    entry_bytes: usize,
    place: String,
    pause: Pause,
    pending: i64,
    /// Lead of this instance's clock over that of the first service, us.
    ahead_us: i64,
    /// Operations of the last slice: as many are sent for the next.
    expected: usize,
    own: Arc<Own>,
}

impl ServerLoop {
    /// Connects and has the server parse the block, without an operation.
    pub(crate) fn open(
        link: &Arc<Link>,
        own: &Arc<Own>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
        major: u32,
    ) -> Result<Self> {
        let mut connection = link.connect_session(placement)?;
        let place = session_name(placement.session);
        let ahead_us = own.ahead_us(link, &mut *connection, placement.endpoint)?;
        let draws = Draws::new(workload, placement.session, placement.schema);
        let schemas = draws.schemas();
        let updates = !workload.update_pct.is_none() && workload.commit != Commit::Each;
        let mut session = Self {
            link: Arc::clone(link),
            connection,
            block: statement::slice(workload, &schemas, namespace, major),
            commit: updates.then(|| statement::client_commit(workload)),
            draws,
            schemas,
            entry_bytes: statement::entry_bytes(workload),
            place,
            pause: Pause::default(),
            pending: 0,
            ahead_us,
            expected: FIRST_CALL,
            own: Arc::clone(own),
        };
        let sent = [session.draws.op(0)];
        // Over before it begins: parsed and compiled, nothing done.
        session.call(&sent, 0, 0)?;
        Ok(session)
    }

    /// One call from `begin_us` to `end_us` on this instance's clock.
    fn call(&mut self, sent: &[Op], begin_us: i64, end_us: i64) -> Result<Answer> {
        let binds = [
            ("ops", Bind::Bytes(ops::packed(sent, &self.schemas, self.entry_bytes)?)),
            ("begin_us", Bind::Integer(begin_us)),
            ("end_us", Bind::Integer(end_us)),
            ("since_us", Bind::Integer(self.pause.since_us)),
            ("until_us", Bind::Integer(self.pause.until_us)),
            ("pending", Bind::Integer(self.pending)),
            ("answer", Bind::Room(ops::room(sent.len()))),
        ];
        // Long enough for a begin that lies ahead and an operation that outlasts the slice.
        let ahead = end_us.saturating_sub(begin_us).clamp(0, 3_600_000_000).unsigned_abs();
        let within = QUESTION + Duration::from_micros(ahead) + Duration::from_mins(10);
        let done = self.connection.execute(&self.block, &binds, within);
        let done = done.map_err(|failure| {
            if self.link.abort_state().is_interrupted() {
                interrupted(&self.place)
            } else {
                explain(&failure, Doing::Work, &self.place)
            }
        })?;
        let text = done.out.into_iter().next().flatten().unwrap_or_default();
        let answer = Answer::parse(&text).filter(|answer| answer.done <= sent.len());
        let answer = answer.ok_or_else(|| {
            let begin: String = text.chars().take(60).collect();
            Error::run(
                format!("{}: the answer of the slice cannot be read: `{begin}`", self.place),
                "`mindful doctor` writes a bundle for a report of this bug",
            )
        })?;
        (self.pause, self.pending) = (answer.pause, answer.pending);
        Ok(answer)
    }

    /// Commits an open transaction: none may stay open over a boundary.
    fn end_transaction(&mut self) -> Result<()> {
        let Some(commit) = self.commit.as_ref().filter(|_| self.pending > 0) else { return Ok(()) };
        let done = self.connection.execute(commit, &[], QUESTION);
        done.map_err(|failure| explain(&failure, Doing::Work, &self.place))?;
        self.pending = 0;
        Ok(())
    }
}

impl Drop for ServerLoop {
    fn drop(&mut self) {
        self.own.leave(&mut *self.connection);
    }
}

impl Session for ServerLoop {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let (begin_us, end_us) = (order.begin_us + self.ahead_us, order.end_us + self.ahead_us);
        let last = order.max_ops.map_or(u64::MAX, |ops| order.first_op + ops);
        let mut next = order.first_op;
        let mut summed = Summed::default();
        loop {
            let most = ops::most(self.entry_bytes).min(self.expected);
            let sent: Vec<Op> = (next..last).take(most).map(|index| self.draws.op(index)).collect();
            let answer = self.call(&sent, begin_us, end_us)?;
            summed.add(&answer, &sent);
            next += answer.done as u64;
            let over = answer.done < sent.len() || next >= last || answer.ended_us() >= end_us;
            if over || self.link.abort_state().is_interrupted() {
                break;
            }
            self.expected = ops::most(self.entry_bytes);
        }
        self.end_transaction()?;
        // A quarter more than now, so that the next slice is one call where that can be.
        self.expected = ((next - order.first_op) as usize * 5 / 4).max(16);
        let mut report = summed.report(order.index);
        report.begin_us -= self.ahead_us;
        report.end_us -= self.ahead_us;
        for op in &mut report.long {
            op.begin_us -= self.ahead_us;
        }
        Ok(report)
    }
}
