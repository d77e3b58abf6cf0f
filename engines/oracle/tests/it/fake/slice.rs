//! The block of a slice, by the engine's model of it, on the tables in its text.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use mindful_core::contract::clock;
use mindful_oracle::driver::Failure;

use super::model::{self, Order};
use super::{Binds, Database, numbers, server};

pub(super) const SERVICE: Duration = Duration::from_micros(150);

struct Running<'a> {
    database: &'a Database,
    sid: u64,
    /// Table by kind and slot.
    tables: BTreeMap<(u32, u32), String>,
    redo: u64,
    /// Whether each update commits; after so many.
    each: bool,
    every: u64,
    waits: bool,
    updates: u64,
    ahead_us: i64,
    failure: Option<Failure>,
}

pub(super) fn run(database: &Database, sid: u64, sql: &str, binds: &Binds) -> Result<String, Failure> {
    let every = numbers::after(sql, "IF v_pending >= ").unwrap_or(0);
    let order = Order {
        ops: binds.bytes("ops"),
        entry_bytes: numbers::after(sql, "c_entry   CONSTANT PLS_INTEGER := ").expect("a length") as usize,
        begin_us: binds.integer("begin_us"),
        end_us: binds.integer("end_us"),
        since_us: binds.integer("since_us"),
        until_us: binds.integer("until_us"),
        pending: binds.integer("pending"),
        every: every as i64,
        later: sql.contains("v_pending := v_pending + 1"),
    };
    assert!(order.ops.len() <= 32_767 && order.ops.len().is_multiple_of(order.entry_bytes));
    let mut running = Running {
        database,
        sid,
        tables: tables(sql),
        redo: if sql.contains("b.f1 = b.f2") { 2_600 } else { 500 },
        each: !order.later,
        every,
        waits: sql.contains("COMMIT WRITE IMMEDIATE WAIT"),
        updates: 0,
        ahead_us: database.state().ahead_us,
        failure: None,
    };
    running.doing(Some("ON CPU"));
    let answer = model::answer(&order, &mut running);
    running.doing(None);
    if let Some(failure) = running.failure {
        return Err(failure);
    }
    let answer = answer.expect("an answer or a failure");
    if answer.len() > binds.room("answer") {
        return Err(server(6_502, "PL/SQL: numeric or value error: character string buffer too small"));
    }
    Ok(answer)
}

/// Tables by kind and slot, as the branches of the block name them.
fn tables(sql: &str) -> BTreeMap<(u32, u32), String> {
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

    fn commit(&mut self) {
        self.updates += 1;
        let due = self.each || (self.every > 0 && self.updates.is_multiple_of(self.every));
        if due {
            let mut state = self.database.state();
            state.count(self.sid, "user commits", 1);
            state.count(self.sid, "redo synch writes", u64::from(self.waits));
        }
    }
}

impl model::Server for Running<'_> {
    fn now_us(&mut self) -> i64 {
        clock::now_us() + self.ahead_us
    }

    fn sleep_us(&mut self, us: i64) {
        thread::sleep(Duration::from_micros(us.unsigned_abs()));
    }

    fn operate(&mut self, what: u32, slot: u32, first: i64, last: i64) -> Option<u64> {
        let Some(table) = self.tables.get(&(what, slot)).cloned() else {
            self.failure = Some(server(6_592, "CASE not found while executing CASE statement"));
            return None;
        };
        let (first, last) = if what == 2 { (1, i64::MAX - 1) } else { (first, last) };
        let visited = self.database.state().visit(self.sid, &table, first, last);
        thread::sleep(SERVICE);
        match visited {
            Ok(blocks) => {
                if what == 1 {
                    self.database.state().count(self.sid, "redo size", self.redo * blocks);
                    self.commit();
                }
                Some(blocks)
            }
            Err(failure) => {
                self.failure = Some(failure);
                None
            }
        }
    }
}
