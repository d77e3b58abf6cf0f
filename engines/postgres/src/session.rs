//! A session whose work loop runs in the database: one CALL a slice.

use std::sync::Arc;

use mindful_core::latency::Latency;
use mindful_core::slice::{Placement, SliceOrder, SliceReport, Tally};
use mindful_core::workload::{Access, OpKind, Workload};
use mindful_core::{Result, Session};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};

use crate::connect::Connection;
use crate::error::Failure;
use crate::link::Link;
use crate::names::Namespace;
use crate::script::Script;
use crate::sessions::{Presence, Sessions};

const CALL: &str = "CALL pg_temp.slice($1, $2, $3, $4, $5, $6, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)";

/// More operations than any slice can hold, with room to add to.
const UNLIMITED: i64 = 1 << 60;

/// Operations that plan the statements before the first slice; their numbers are beyond those of any run.
const WARM_OP: i64 = 1 << 40;
const WARM_OPS: i64 = 3;

/// An instant far away, us since the epoch.
const WARM_UNTIL_US: i64 = 4_000_000_000_000_000;

/// A pause that a slice hands on to the next, us since the epoch; 0 for none.
#[derive(Debug, Clone, Copy, Default)]
struct Pause {
    /// Reported up to here.
    since_us: i64,
    /// No operation begins before.
    until_us: i64,
}

/// One connection with its procedure.
pub struct ServerLoop {
    link: Arc<Link>,
    client: Connection,
    call: Statement,
    place: String,
    pause: Pause,
    _presence: Presence,
}

impl ServerLoop {
    /// Connects, installs the procedure and runs it once for nothing, so that its first slice plans nothing.
    pub fn open(
        link: &Arc<Link>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
        sessions: &Arc<Sessions>,
    ) -> Result<Self> {
        let (client, place) = link.connect_session(workload, placement)?;
        let script = Script::new(workload, placement.session, placement.schema, namespace);
        let call = link.run_on(&client, &place, async {
            client.batch_execute(&script.procedure()).await?;
            Ok(client.prepare(CALL).await?)
        })?;
        let presence = sessions.enter(&client).map_err(|error| error.at(&place))?;
        let mut session =
            Self { link: Arc::clone(link), client, call, place, pause: Pause::default(), _presence: presence };
        // One by one, so that none of their pauses is waited for; a scan of a whole schema is planned by the first.
        let ops = if workload.access == Access::Scan { 1 } else { WARM_OPS };
        for op in WARM_OP..WARM_OP + ops {
            session.call(0, WARM_UNTIL_US, op, 1)?;
        }
        Ok(session)
    }

    fn call(&mut self, begin_us: i64, end_us: i64, first_op: i64, most_ops: i64) -> Result<Row> {
        let (client, call, pause) = (&self.client, &self.call, self.pause);
        self.link.work(client, &self.place, async {
            let order: [&(dyn ToSql + Sync); 6] =
                [&begin_us, &end_us, &first_op, &most_ops, &pause.since_us, &pause.until_us];
            client.query_one(call, &order).await.map_err(Failure::from)
        })
    }
}

impl Session for ServerLoop {
    fn slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let most = order.max_ops.map_or(UNLIMITED, |ops| ops as i64);
        let row = self.call(order.begin_us, order.end_us, order.first_op as i64, most)?;
        self.pause = Pause { since_us: row.get("thinks_since_us"), until_us: row.get("think_until_us") };
        Ok(report(order.index, &row))
    }
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

/// The latency a bucket stands for, ns: the inverse of the procedure's `128 + ln(us / 128) * 200`, at its middle.
///
/// Bucket 0 holds what took less than half a microsecond of the server's clock.
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
    fn a_bucket_stands_for_its_latencies_to_half_a_percent() {
        for us in [1_u64, 127, 128, 129, 1_000, 123_456, 3_000_000_000] {
            let bucket = if us < 128 { us as i64 } else { 128 + ((us as f64 / 128.0).ln() * 200.0).floor() as i64 };
            let error = bucket_ns(bucket) as f64 / (us as f64 * 1_000.0) - 1.0;
            assert!(error.abs() <= 0.005, "{us} us is reported as {} ns", bucket_ns(bucket));
        }
    }
}
