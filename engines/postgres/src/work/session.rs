//! A session with its work loop in the database: one CALL for each slice.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::{MaybeDone, maybe_done};
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, Tally};
use mindful_core::record::latency::Latency;
use mindful_core::workload::{Access, OpKind, Workload};
use mindful_core::{Error, Result, Session};
use mindful_sql::work::{NEVER_US, Pause, WARM_UP_OPS};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::connect::abort::{CANCEL_WITHIN, Presence, Sessions};
use crate::connect::link::Link;
use crate::connect::{Connection, pooled};
use crate::error::Failure;
use crate::names::Namespace;
use crate::work::statement::Script;

const CALL: &str =
    "CALL pg_temp.slice($1, $2, $3, $4, $5, $6, $7, $8, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";

/// From this number of sessions on, they publish their counts only when these are read, and otherwise leave that to the
/// server. The server adds counts up in a few places. If all published every second, they would queue there, each
/// waiting for a CPU at the head of the queue.
const MANY_SESSIONS: u32 = 128;

/// More operations than any run can hold.
const UNLIMITED: i64 = 1 << 60;

/// One connection with its procedure.
///
/// The calls of the next slices are sent before the answer of this one is read. So the server's process continues at
/// once. The time that the answer and the client's thread wait for a CPU among hundreds of others is not part of any
/// session's time.
pub(crate) struct ServerLoop {
    client: Arc<Connection>,
    statement: Statement,
    place: String,
    pause: Pause,
    one_of_many: bool,
    /// Two instants between which counters are not read.
    unread_us: Option<[i64; 2]>,
    calls: i64,
    /// Sent and not yet answered.
    under_way: VecDeque<Sent>,
    _presence: Presence,
    /// Dropped after the connection, because it waits for its end.
    link: Arc<Link>,
}

struct Call {
    first_index: u32,
    begin_us: i64,
    ends_us: Vec<i64>,
    /// `None` to continue after the previous call, in operation and pause.
    from: Option<(i64, Pause)>,
    last_op: i64,
}

struct Sent {
    first_index: u32,
    answer: MaybeDone<Answer>,
}

type Answer = Pin<Box<dyn Future<Output = Result<Row, tokio_postgres::Error>> + Send>>;

impl ServerLoop {
    /// Connects, installs the procedure and runs it once for nothing, so that its first slice plans nothing.
    pub(crate) fn open(
        link: &Arc<Link>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
        sessions: &Arc<Sessions>,
    ) -> Result<Self> {
        let (client, place) = link.connect_session(workload, placement)?;
        let script = Script::new(workload, placement.session, placement.schema, namespace);
        let statement = link.run_on(&client, &place, async {
            client.batch_execute(&script.procedure()).await?;
            Ok(client.prepare(CALL).await?)
        })?;
        let presence = sessions.enter(&client, placement.session).map_err(|error| error.at(&place))?;
        let mut session = Self {
            client: Arc::new(client),
            statement,
            place,
            pause: Pause::default(),
            one_of_many: placement.sessions >= MANY_SESSIONS,
            unread_us: None,
            calls: 0,
            under_way: VecDeque::new(),
            _presence: presence,
            link: Arc::clone(link),
        };
        // They run one by one, so that no pause is awaited; the first one plans a scan of a whole schema.
        for op in WARM_UP_OPS.take(if workload.access == Access::Scan { 1 } else { usize::MAX }) {
            session.send(uncounted(op, 1));
            session.warmed_up()?;
        }
        Ok(session)
    }

    fn send(&mut self, call: Call) {
        self.calls += 1;
        let (client, statement, number) = (Arc::clone(&self.client), self.statement.clone(), self.calls);
        let (first_index, unread_us) = (call.first_index, self.unread_us.map(Vec::from));
        let asked: Answer = Box::pin(async move {
            let first_op = call.from.map(|(op, _)| op);
            let (since_us, until_us) = call.from.map(|(_, pause)| (pause.since_us, pause.until_us)).unzip();
            let order: [&(dyn ToSql + Sync); 8] =
                [&call.begin_us, &call.ends_us, &first_op, &call.last_op, &number, &unread_us, &since_us, &until_us];
            client.query_one(&statement, &order).await
        });
        let mut answer = maybe_done(asked);
        // The driver sends the request on its first poll.
        let _ = self.link.wait(asked_once(&mut answer));
        self.under_way.push_back(Sent { first_index, answer });
    }

    /// Waits for the answer of a call that belongs to no slice, of a session that does not measure yet.
    fn warmed_up(&mut self) -> Result<()> {
        let mut sent = self.under_way.pop_front().ok_or_else(|| misread("no answer is due"))?;
        self.link.warm_up(&self.client, &self.place, received(&mut sent.answer)).map(drop)
    }

    /// Waits for the answer of the oldest running call; `None` if it could not continue in any slice.
    fn answer(&mut self) -> Result<Option<SliceReport>> {
        let mut sent = self.under_way.pop_front().ok_or_else(|| misread("no answer is due"))?;
        let (client, place, first_index) = (&self.client, &self.place, sent.first_index);
        let (pause, report) = self.link.work(client, place, async {
            let row = received(&mut sent.answer).await?;
            // Nothing is left of the session when a pooler gave it another server process, or reset this one.
            let slice = row.get::<_, Option<i32>>("place").ok_or_else(|| pooled().at(place))?;
            let pause = Pause { since_us: row.get("thinks_since_us"), until_us: row.get("think_until_us") };
            let passed_over = slice.unsigned_abs().checked_sub(1);
            Ok((pause, passed_over.map(|slices| report(first_index.saturating_add(slices), &row))))
        })?;
        self.pause = pause;
        Ok(report)
    }
}

impl Drop for ServerLoop {
    /// A call with an answer that will not be read is ended; the calls after it notice that.
    fn drop(&mut self) {
        let Some(mut last) = self.under_way.pop_back() else { return };
        let canceller = self.client.canceller();
        self.link.wait(async {
            if asked_once(&mut last.answer).await.is_pending() {
                let _ = tokio::time::timeout(CANCEL_WITHIN, canceller.cancel()).await;
            }
        });
    }
}

impl Session for ServerLoop {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.run_slice_ahead(order, &[])
    }

    fn run_slice_ahead(&mut self, order: &SliceOrder, later_ends_us: &[i64]) -> Result<SliceReport> {
        let first_op = order.first_op as i64;
        let last_op = order.max_ops.map_or(UNLIMITED, |ops| first_op + ops as i64);
        let mut ahead = later_ends_us.len();
        loop {
            if self.under_way.is_empty() {
                let (ends_us, from) = (vec![order.end_us], Some((first_op, self.pause)));
                self.send(Call { first_index: order.index, begin_us: order.begin_us, ends_us, from, last_op });
            }
            while self.under_way.len() <= ahead {
                let (first_index, begin_us, ends_us) = (order.index + 1, order.end_us, later_ends_us.to_vec());
                self.send(Call { first_index, begin_us, ends_us, from: None, last_op });
            }
            // The calls after a failed one noticed that and did nothing.
            if let Some(report) = self.answer().inspect_err(|_| self.under_way.clear())? {
                return Ok(report);
            }
            // An operation outlasted all that the call could choose from; to send that again would be for nothing.
            ahead = 0;
        }
    }

    fn set_unread_interval(&mut self, from_us: i64, to_us: i64) {
        self.unread_us = self.one_of_many.then_some([from_us, to_us]);
    }

    fn rehearse(&mut self) -> Result<()> {
        self.send(uncounted(WARM_UP_OPS.start, 0));
        self.answer().map(drop)
    }

    fn is_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }
}

async fn received(answer: &mut MaybeDone<Answer>) -> Result<Row, Failure> {
    (&mut *answer).await;
    let received = Pin::new(answer).take_output();
    received.ok_or_else(|| misread("an answer was read twice"))?.map_err(Failure::from)
}

/// A call of `ops` operations from `first_op` on that belongs to no slice.
fn uncounted(first_op: u64, ops: u64) -> Call {
    let from = Some((first_op as i64, Pause::default()));
    Call { first_index: 0, begin_us: 0, ends_us: vec![NEVER_US], from, last_op: (first_op + ops) as i64 }
}

fn misread(what: &str) -> Error {
    Error::run(what, "report this")
}

async fn asked_once(answer: &mut MaybeDone<Answer>) -> Poll<()> {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *answer).poll(context))).await
}

fn report(index: u32, row: &Row) -> SliceReport {
    let totals: Vec<i64> = row.get("totals");
    let mut report = SliceReport {
        index,
        begin_us: row.get("began_us"),
        end_us: row.get("ended_us"),
        think_us: row.get::<_, i64>("thought_us").unsigned_abs(),
        ..SliceReport::default()
    };
    for (kind, (column, sums)) in
        OpKind::ALL.into_iter().zip(["selects", "updates", "scans"].iter().zip(totals.chunks(3)))
    {
        let counted: Vec<i64> = row.get(column);
        let counts = used(&counted);
        let op = report.op_mut(kind);
        let [blocks, sum_us, max_us] = [0, 1, 2].map(|at| sums.get(at).map_or(0, |sum| sum.unsigned_abs()));
        op.ops = counts.iter().fold(0, |all: u64, (_, count)| all.saturating_add(*count));
        op.blocks = blocks;
        op.latency = Latency {
            buckets: counts.into_iter().map(|(bucket, count)| (bucket_ns(bucket), count)).collect(),
            sum_ns: sum_us.saturating_mul(1_000),
            max_ns: max_us.saturating_mul(1_000),
        };
    }
    let longs: Vec<i64> = row.get("longs");
    for long in longs.chunks_exact(3) {
        if let Some(kind) = OpKind::ALL.get(long[0] as usize) {
            report.note_long(*kind, long[1], long[2].unsigned_abs());
        }
    }
    let cells: Vec<i64> = row.get("tally");
    report.tally =
        Tally((0..).zip(cells).filter(|(_, count)| *count > 0).map(|(n, c)| (n, c.unsigned_abs())).collect());
    report
}

/// The buckets in use with their counts, of a first bucket and the counts from there on.
fn used(counted: &[i64]) -> Vec<(i64, u64)> {
    let Some((first, counts)) = counted.split_first() else { return Vec::new() };
    (*first..).zip(counts).filter(|(_, count)| **count > 0).map(|(bucket, n)| (bucket, n.unsigned_abs())).collect()
}

/// The latency of a bucket, ns: the inverse of the procedure's `128 + ln(us / 128) * 200`, at its middle.
///
/// Bucket 0 contains latencies below half a microsecond of the server's clock.
fn bucket_ns(bucket: i64) -> u64 {
    match bucket {
        0 => 250,
        1..128 => bucket.unsigned_abs() * 1_000,
        _ => (128_000.0 * (((bucket - 128) as f64 + 0.5) / 200.0).exp()) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_represents_its_latencies_to_half_a_percent() {
        for us in [1_u64, 127, 128, 129, 1_000, 123_456, 3_000_000_000] {
            let bucket = if us < 128 { us as i64 } else { 128 + ((us as f64 / 128.0).ln() * 200.0).floor() as i64 };
            let error = bucket_ns(bucket) as f64 / (us as f64 * 1_000.0) - 1.0;
            assert!(error.abs() <= 0.005, "{us} us is reported as {} ns", bucket_ns(bucket));
        }
    }
}
