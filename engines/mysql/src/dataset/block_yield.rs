//! Checks that each row has a separate page, from the number of pages that the server requests for a visit. It is used
//! if the server's files cannot be read; pages may be cached or not.
//!
//! For each drawn row two ranges of two rows are counted: the row and its ballast; that ballast and the next row. A
//! range costs one more page for each of these: it begins a page, a page begins within it, a page begins after it. Let
//! `x` of a row be 1 if a page begins with it, and `y` be 1 if a page begins with its ballast:
//!
//! ```text
//! row p, ballast p:      x(p) + y(p) + x(p + 1) + common cost
//! ballast p, row p + 1:  y(p) + x(p + 1) + y(p + 1) + common cost
//! ```
//!
//! The first costs more than the second only if `x(p)` is 1: a page begins with the row.

use std::time::Duration;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::workload::draw::{self, Permutation};
use mindful_core::{contract::clock, dataset::proof_sample};
use serde_json::Value;

use crate::connect::Conn;
use crate::error::Failure;
use crate::observe::status;

/// The share of rows without a separate page that the sample misses once in 10^9.
pub(crate) const SHARE: f64 = 0.01;
/// The first rows: the second page of a table begins with the ballast of the first.
const FIRST: u64 = 2;
/// Measurements of a row before its page is in doubt: the counter includes the work of others.
const TRIES: u32 = 3;
/// Times that a row in doubt is measured again, if at most one in so many is.
const TRIES_IN_DOUBT: u32 = 21;
const FEW: u64 = 10;
/// Visits of a range in one statement if the counter includes all activity, so that other activity is small in
/// comparison.
const REPEATED: i64 = 16;
/// Readings of a counter without work in between; those that may exceed the others.
const IDLE_LOOKS: usize = 32;
const DISTURBED: usize = 3;
/// Number of checks for a quiet counter: after a load the server finishes its own work.
const QUIET_TRIES: u32 = 10;
const LOOK_AGAIN: Duration = Duration::from_millis(500);
/// Rows measured before a check whether anything else moved the server's counter: few, because a short disturbance may
/// put all of them in doubt.
const SET: usize = 8;

const OTHERS: &str = "others work on the server, which counts their requests with mindful's";

const REQUESTS: &str = "Innodb_buffer_pool_read_requests";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockYield {
    pub drawn: u64,
    /// Rows that begin a page.
    pub own: u64,
}

impl BlockYield {
    /// The pages of `blocks` rows, as far as the drawn ones show.
    pub(crate) fn pages(self, blocks: u64) -> u64 {
        let shared = (self.drawn - self.own) as f64 / self.drawn.max(1) as f64;
        blocks - (shared * blocks as f64).ceil() as u64
    }
}

/// Measures random rows of `table`, which has `blocks`, or `all` of them. Fails with the reason if the number of pages
/// that a statement requests is not known.
pub(crate) fn measure(
    conn: &mut Conn,
    table: &str,
    blocks: u64,
    all: bool,
    stop: &StopFlag,
) -> Result<Result<BlockYield, &'static str>, Failure> {
    let rows = blocks.saturating_sub(FIRST + 1);
    if rows == 0 {
        return Ok(Err("the table has too few rows"));
    }
    let probe = match Account::find(conn, table, stop)? {
        Ok(account) => Probe { table, account, stop },
        Err(why) => return Ok(Err(why)),
    };
    let order = Permutation::new(rows, draw::mix64(clock::now_us().unsigned_abs()));
    let drawn = if all { rows } else { proof_sample::sample_size(rows, SHARE) };
    let places: Vec<u64> = (0..drawn).map(|index| FIRST + order.get(index)).collect();
    let Some(mut unseen) = probe.unseen(conn, &places, Probe::is_soon_seen)? else { return Ok(Err(OTHERS)) };
    if unseen.len() as u64 * FEW <= drawn {
        let Some(left) = probe.unseen(conn, &unseen, Probe::is_seen_at_last)? else { return Ok(Err(OTHERS)) };
        unseen = left;
    }
    let without = unseen.len() as u64;
    if without == drawn {
        // In any layout, some rows begin a page.
        return Ok(Err("the server does not count the pages that its statements ask for"));
    }
    Ok(Ok(BlockYield { drawn, own: drawn - without }))
}

/// Sources of the number of pages that a statement requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Account {
    /// `ANALYZE` of MariaDB, of only the statement.
    Statement,
    /// The server's counter, of all that is going on.
    Server,
}

impl Account {
    /// Why no source is available, if so.
    fn find(conn: &mut Conn, table: &str, stop: &StopFlag) -> Result<Result<Self, &'static str>, Failure> {
        let hashes: Option<bool> = conn.query_first("SELECT @@GLOBAL.innodb_adaptive_hash_index = 1")?;
        if hashes != Some(false) {
            return Ok(Err(
                "the adaptive hash index hides the requests of visits, until SET GLOBAL innodb_adaptive_hash_index = OFF",
            ));
        }
        // Only MariaDB has the statement, and accounts from 10.6.15 on.
        if analyzed(conn, table, 0).is_ok_and(|pages| pages.is_some()) {
            return Ok(Ok(Self::Statement));
        }
        for _ in 0..QUIET_TRIES {
            stop.refuse("the proof was stopped")?;
            if is_quiet(conn)? {
                return Ok(Ok(Self::Server));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(Err(OTHERS))
    }

    /// Pages requested by two ranges of two rows, each from one of `ids` on.
    fn pages(self, conn: &mut Conn, table: &str, [one, other]: [u64; 2]) -> Result<[i64; 2], Failure> {
        if self == Self::Statement {
            let mut analyzed = |id| Ok::<_, Failure>(analyzed(conn, table, id)?.unwrap_or(0));
            return Ok([analyzed(one)?, analyzed(other)?]);
        }
        let before = requests(conn)?;
        visit(conn, table, one)?;
        let between = requests(conn)?;
        visit(conn, table, other)?;
        Ok([between - before, requests(conn)? - between])
    }

    const fn of_a_page(self) -> i64 {
        match self {
            Self::Statement => 1,
            Self::Server => REPEATED / 2,
        }
    }
}

/// Measures single rows of a table.
#[derive(Clone, Copy)]
struct Probe<'a> {
    table: &'a str,
    account: Account,
    stop: &'a StopFlag,
}

impl Probe<'_> {
    /// The `places` that are not `seen`, set by set. A set is measured again while others change the counter; `None` if
    /// they always do.
    fn unseen(
        self,
        conn: &mut Conn,
        places: &[u64],
        seen: impl Fn(Self, &mut Conn, u64) -> Result<bool, Failure>,
    ) -> Result<Option<Vec<u64>>, Failure> {
        let mut unseen = Vec::new();
        'sets: for set in places.chunks(SET) {
            let mut left = set.to_vec();
            for _ in 0..QUIET_TRIES {
                let mut again = Vec::new();
                for place in left {
                    if !seen(self, conn, place)? {
                        again.push(place);
                    }
                }
                left = again;
                if left.is_empty() || self.account == Account::Statement || is_quiet(conn)? {
                    unseen.append(&mut left);
                    continue 'sets;
                }
                self.stop.refuse("the proof was stopped")?;
                std::thread::sleep(LOOK_AGAIN);
            }
            return Ok(None);
        }
        Ok(Some(unseen))
    }

    fn is_soon_seen(self, conn: &mut Conn, place: u64) -> Result<bool, Failure> {
        for _ in 0..TRIES {
            let [row, behind] = self.measure(conn, place)?;
            if row - behind >= self.account.of_a_page() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Measures a doubtful row again, by the smallest cost of each range in many readings: other activity only adds to it.
    fn is_seen_at_last(self, conn: &mut Conn, place: u64) -> Result<bool, Failure> {
        let mut least = [i64::MAX; 2];
        for _ in 0..TRIES_IN_DOUBT {
            let [row, behind] = self.measure(conn, place)?;
            least = [least[0].min(row), least[1].min(behind)];
        }
        Ok(least[0] - least[1] >= self.account.of_a_page())
    }

    /// The pages of two ranges: the row at `place` and its ballast, and the ballast and the next row.
    fn measure(self, conn: &mut Conn, place: u64) -> Result<[i64; 2], Failure> {
        self.stop.refuse("the proof was stopped")?;
        let [behind, row] = self.account.pages(conn, self.table, [2 * place + 1, 2 * place])?;
        Ok([row, behind])
    }
}

/// Whether the server's counter grows by almost nothing but its readings.
fn is_quiet(conn: &mut Conn) -> Result<bool, Failure> {
    let mut looks = [0; IDLE_LOOKS];
    let mut before = requests(conn)?;
    for grown in &mut looks {
        let now = requests(conn)?;
        (*grown, before) = (now - before, now);
    }
    looks.sort_unstable();
    Ok(looks[IDLE_LOOKS - DISTURBED - 1] <= looks[0] + REPEATED / 4)
}

fn range(table: &str, id: u64) -> String {
    format!("SELECT COUNT(seq) FROM {table} FORCE INDEX (PRIMARY) WHERE id BETWEEN {id} AND {}", id + 1)
}

/// Visits a range of two rows as often as one statement does.
fn visit(conn: &mut Conn, table: &str, id: u64) -> Result<(), Failure> {
    conn.query_drop(vec![range(table, id); REPEATED as usize].join(" UNION ALL "))
}

fn requests(conn: &mut Conn) -> Result<i64, Failure> {
    Ok(status::read(conn, &[REQUESTS])?.remove(REQUESTS).unwrap_or(0.0) as i64)
}

/// Pages requested by a range of two rows, from the server's own analysis of the statement; `None` if it has none.
fn analyzed(conn: &mut Conn, table: &str, id: u64) -> Result<Option<i64>, Failure> {
    let analysis: Option<String> = conn.query_first(format!("ANALYZE FORMAT=JSON {}", range(table, id)))?;
    Ok(analysis.and_then(|analysis| accessed(&serde_json::from_str(&analysis).ok()?)))
}

fn accessed(analysis: &Value) -> Option<i64> {
    match analysis {
        Value::Object(fields) => match fields.get("r_engine_stats") {
            Some(stats) => stats.get("pages_accessed").and_then(Value::as_i64),
            None => fields.values().find_map(accessed),
        },
        Value::Array(values) => values.iter().find_map(accessed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_found_in_the_servers_report_of_a_statement() {
        let analysis =
            r#"{"query_block": {"nested_loop": [{"table": {"r_rows": 2, "r_engine_stats": {"pages_accessed": 5}}}]}}"#;
        assert_eq!(accessed(&serde_json::from_str(analysis).expect("JSON")), Some(5));
        assert_eq!(accessed(&serde_json::json!({"query_block": {"table": {"r_rows": 2}}})), None);
    }

    #[test]
    fn one_row_without_a_page_is_a_page_less_at_least() {
        assert_eq!(BlockYield { drawn: 1_000, own: 1_000 }.pages(2_000), 2_000);
        assert_eq!(BlockYield { drawn: 1_000, own: 999 }.pages(2_000), 1_998);
        assert_eq!(BlockYield { drawn: 1_000, own: 500 }.pages(2_001), 1_000);
    }
}
