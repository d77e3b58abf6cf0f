//! The block of a slice on the tables in its text, line by line as in `sql/slice/block.sql`: the expected answer of a
//! server.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use mindful_core::contract::clock;
use mindful_oracle::bucket;
use mindful_oracle::driver::Failure;

use super::{Binds, Database, numbers, server};

pub(super) const SERVICE: Duration = Duration::from_micros(150);

/// Latencies counted by kind and microsecond are kept below this.
const KIND: i64 = 536_870_912;
const LONG_US: i64 = 100_000;

/// What the arithmetic of the block needs of a server.
pub(crate) trait Server {
    /// Now, us since the epoch.
    fn now_us(&mut self) -> i64;
    fn sleep_us(&mut self, us: i64);
    /// Carries out an operation and returns the blocks it visited.
    fn operate(&mut self, what: i64, slot: i64, first: i64, last: i64) -> Result<u64, Failure>;
    fn commit(&mut self);
}

struct Running<'a> {
    database: &'a Database,
    sid: u64,
    ahead_us: i64,
    /// Table by kind and slot.
    tables: BTreeMap<(i64, i64), String>,
    redo: u64,
    /// Whether commits wait for redo.
    waits: bool,
}

pub(super) fn run(database: &Database, sid: u64, sql: &str, binds: &Binds) -> Result<String, Failure> {
    let mut running = Running {
        database,
        sid,
        ahead_us: database.state().ahead_us,
        tables: tables(sql),
        redo: if sql.contains("b.f1 = b.f2") { 2_600 } else { 500 },
        waits: sql.contains("COMMIT WRITE IMMEDIATE WAIT"),
    };
    running.doing(Some("ON CPU"));
    let answer = answer(sql, binds, &mut running);
    running.doing(None);
    if answer.as_ref().is_ok_and(|answer| answer.len() > binds.room("answer")) {
        return Err(server(6_502, "PL/SQL: numeric or value error: character string buffer too small"));
    }
    answer
}

/// Tables by kind and slot, as the branches of the block name them.
fn tables(sql: &str) -> BTreeMap<(i64, i64), String> {
    let mut tables = BTreeMap::new();
    for branch in sql.split("            WHEN ").skip(1) {
        let slot = branch.split(' ').next().and_then(|slot| slot.parse().ok()).expect("a slot");
        let (kind, before) = match branch {
            _ if branch.contains("FULL(b)") => (2, "v_seen FROM "),
            _ if branch.contains("INTO v_seen") => (0, "v_seen FROM "),
            _ => (1, "NO_PARALLEL(b) */ "),
        };
        tables.insert((kind, slot), numbers::word_after(branch, before).expect("a table"));
    }
    tables
}

impl Running<'_> {
    fn doing(&self, doing: Option<&'static str>) {
        self.database.state().sessions.entry(self.sid).or_default().doing = doing;
    }
}

impl Server for Running<'_> {
    fn now_us(&mut self) -> i64 {
        clock::now_us() + self.ahead_us
    }

    fn sleep_us(&mut self, us: i64) {
        thread::sleep(Duration::from_micros(us.unsigned_abs()));
    }

    fn operate(&mut self, what: i64, slot: i64, first: i64, last: i64) -> Result<u64, Failure> {
        let table = self.tables.get(&(what, slot));
        let table = table.ok_or_else(|| server(6_592, "CASE not found while executing CASE statement"))?;
        let (first, last) = if what == 2 { (1, i64::MAX - 1) } else { (first, last) };
        let visited = self.database.state().visit(self.sid, table, first, last);
        thread::sleep(SERVICE);
        if what == 1 {
            self.database.state().count(self.sid, "redo size", self.redo * visited.clone()?);
        }
        visited
    }

    fn commit(&mut self) {
        let mut state = self.database.state();
        state.count(self.sid, "user commits", 1);
        state.count(self.sid, "redo synch writes", u64::from(self.waits));
    }
}

/// Waits until `start` and returns the time then.
fn wait_until(start: i64, server: &mut dyn Server) -> i64 {
    let now = server.now_us();
    if start - now > 30_000 {
        server.sleep_us(start - now - 20_000);
    }
    loop {
        let now = server.now_us();
        if now >= start {
            return now;
        }
    }
}

/// The answer of the block `sql`, which is run by `server`.
pub(crate) fn answer(sql: &str, binds: &Binds, server: &mut dyn Server) -> Result<String, Failure> {
    let entry = numbers::after(sql, "c_entry   CONSTANT PLS_INTEGER := ").expect("a length") as usize;
    let every = numbers::after(sql, "IF v_pending >= ").map_or(i64::MAX, |every| every as i64);
    let (ops, later) = (binds.bytes("ops"), sql.contains("v_pending := v_pending + 1"));
    assert!(ops.len() <= 32_767 && ops.len().is_multiple_of(entry));
    let word = |at: usize| i64::from(i32::from_be_bytes(ops[at..at + 4].try_into().expect("four bytes")));
    let [start, end, mut since, mut until, mut pending] =
        ["begin_us", "end_us", "since_us", "until_us", "pending"].map(|name| binds.integer(name));
    let (mut counted, mut done, mut think) = (Counted::default(), 0, 0);
    let began = wait_until(start, server);
    let mut now = began;
    while done < ops.len() / entry {
        if until > 0 {
            while now < until.min(end) {
                server.sleep_us((until.min(end) - now).max(10_000));
                now = server.now_us();
            }
            think += (now.min(end) - since).max(0);
            if now.max(until) >= end {
                since = since.max(end);
                break;
            }
            until = 0;
        }
        if now >= end {
            break;
        }
        let (at, started) = (done * entry, now);
        let (first, what, slot) = (word(at), word(at + 8) % 4, word(at + 8) / 4);
        let seen = server.operate(what, slot, first, first + word(at + 4))?;
        pending += i64::from(what == 1 && later);
        if what == 1 && (!later || pending >= every) {
            server.commit();
            pending = 0;
        }
        now = server.now_us();
        counted.add(what, started, now - started, seen);
        done += 1;
        if entry > 12 && word(at + 12) > 0 {
            (since, until) = (now, now + word(at + 12));
        }
    }
    Ok(format!("{done} {began} {now} {since} {until} {think} {pending};{}", counted.text()))
}

#[derive(Default)]
struct Counted {
    /// Blocks, sum and longest in us, by kind.
    kinds: [[u64; 3]; 3],
    /// Operations by kind and bucket.
    buckets: BTreeMap<u64, u64>,
    long: String,
}

impl Counted {
    fn add(&mut self, what: i64, started: i64, us: i64, seen: u64) {
        let us = us.clamp(0, KIND - 1);
        let [blocks, sum_us, longest_us] = &mut self.kinds[what as usize];
        *blocks += seen;
        *sum_us += us.unsigned_abs();
        *longest_us = us.unsigned_abs().max(*longest_us);
        let bucket = what.unsigned_abs() * bucket::OF_KIND + bucket_number(us.unsigned_abs());
        *self.buckets.entry(bucket).or_default() += 1;
        if us >= LONG_US && self.long.len() < 3_900 {
            let _ = write!(self.long, "{what}:{started}:{us} ");
        }
    }

    fn text(&self) -> String {
        let kinds = self.kinds.map(|[blocks, sum_us, longest_us]| format!("{blocks} {sum_us} {longest_us}"));
        let buckets: Vec<String> = self.buckets.iter().map(|(bucket, count)| format!("{bucket}:{count}")).collect();
        format!("{};{};{}", kinds.join(";"), self.long, buckets.join(" "))
    }
}

/// The bucket of a latency of `us`, as computed by `sql/slice/block.sql`.
pub(crate) fn bucket_number(us: u64) -> u64 {
    let ns = us * 1_000;
    let (mut width, mut power) = (1, 0);
    while ns >= 256 * width {
        width *= 2;
        power += 1;
    }
    power * 128 + ns / width
}
