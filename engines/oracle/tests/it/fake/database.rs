//! The content of a made-up database, and its statements.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_oracle::driver::{Done, Failure, Row};
use mindful_oracle::statement;

use super::{Binds, Session, numbers, server, slice, views};

static ALL: Mutex<BTreeMap<String, Arc<Database>>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<String, Arc<Database>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) struct Database {
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub tables: BTreeMap<String, Table>,
    pub registry: BTreeMap<String, Registered>,
    pub sessions: BTreeMap<u64, Own>,
    /// The holders of the registry, and whether exclusively.
    locks: BTreeMap<u64, bool>,
    plan: Vec<String>,
    next: u64,
    pub gone: BTreeMap<&'static str, u64>,
    /// Texts that fail, by name: the number of the error, and how often still.
    faults: BTreeMap<String, (u32, u32)>,
    /// Texts that never end, by name.
    hanging: BTreeSet<String>,
    pub waited_for: BTreeSet<String>,
    pub seen: BTreeSet<String>,
    /// Those of them with a time limit of more than two minutes.
    pub long: BTreeSet<String>,
    /// The banner; empty for a usual one.
    pub banner: String,
    pub quota: Option<u64>,
    /// How far its clock is ahead of this host's, us.
    pub ahead_us: i64,
    pub files: Vec<String>,
    /// How many of its two CPUs are reported as busy.
    pub busy_cpus: f64,
}

#[derive(Default, Clone)]
pub(crate) struct Table {
    pub object: u64,
    pub keys: Arc<Vec<u64>>,
    pub comment: Option<String>,
    pub indexed: bool,
}

#[derive(Default, Clone)]
pub(crate) struct Registered {
    pub object: Option<u64>,
    /// Kind, schema, blocks, seed, content and shape.
    pub of_load: [String; 6],
    pub proof: Option<String>,
}

#[derive(Default, Clone)]
pub(crate) struct Own {
    pub module: String,
    pub action: String,
    pub statistics: BTreeMap<&'static str, u64>,
    /// Its current work; `None` while it waits for its client.
    pub doing: Option<&'static str>,
}

impl Database {
    /// A new database of that name, reached by the service of the same name.
    pub(crate) fn create(name: &str) -> Arc<Self> {
        let database = Arc::new(Self { state: Mutex::new(State { quota: Some(1 << 40), ..State::default() }) });
        all().insert(name.to_owned(), Arc::clone(&database));
        database
    }

    pub(crate) fn also_as(self: &Arc<Self>, name: &str) {
        all().insert(name.to_owned(), Arc::clone(self));
    }

    pub(crate) fn named(name: &str) -> Option<Arc<Self>> {
        all().get(name).cloned()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on the text called `name` fails `times` times.
    pub(crate) fn fail(&self, name: &str, code: u32, times: u32) {
        self.state().faults.insert(name.to_owned(), (code, times));
    }

    /// From now on the text called `name` hangs, like one that waits for a lock, until it is released.
    pub(crate) fn hang(&self, name: &str, hangs: bool) {
        let mut state = self.state();
        if hangs {
            state.hanging.insert(name.to_owned())
        } else {
            state.hanging.remove(name)
        };
    }

    pub(crate) fn connect(self: Arc<Self>) -> Result<Session, Failure> {
        let mut state = self.state();
        state.fault("connect")?;
        state.next += 1;
        let sid = state.next;
        state.sessions.insert(sid, Own::default());
        drop(state);
        Ok(Session { database: self, sid })
    }

    pub(crate) fn disconnect(&self, sid: u64) {
        let mut state = self.state();
        if let Some(own) = state.sessions.remove(&sid) {
            for (name, value) in own.statistics {
                *state.gone.entry(name).or_default() += value;
            }
        }
        state.locks.remove(&sid);
    }

    pub(crate) fn commit(&self, sid: u64) {
        self.state().locks.remove(&sid);
    }

    pub(crate) fn execute(&self, sid: u64, sql: &str, binds: &Binds) -> Result<Done, Failure> {
        let name = self.enter(sql)?;
        if name == "clock_cost" {
            return Ok(Done { rows: 1, out: vec![Some("40000".to_owned())] });
        }
        if name == "slice" {
            let text = slice::run(self, sid, sql, binds)?;
            return Ok(Done { rows: 1, out: vec![Some(text)] });
        }
        let mut state = self.state();
        let rows = state.execute(sid, &name, sql, binds)?;
        drop(state);
        if name == "update" || name == "select" {
            std::thread::sleep(slice::SERVICE);
        }
        Ok(Done { rows, out: Vec::new() })
    }

    pub(crate) fn query(&self, sid: u64, sql: &str, binds: &Binds) -> Result<Vec<Row>, Failure> {
        let name = self.enter(sql)?;
        if name == "select" || name == "scan" {
            std::thread::sleep(slice::SERVICE);
        }
        self.state().query(sid, &name, sql, binds)
    }

    /// The name of a text; its fault, if any. Records the time limit for the answer to `sql`.
    pub(super) fn note_patience(&self, sql: &str, within: Duration) {
        if let Some(name) = statement::name(sql).filter(|_| within > Duration::from_mins(2)) {
            self.state().long.insert(name.to_owned());
        }
    }

    fn enter(&self, sql: &str) -> Result<String, Failure> {
        let name = statement::name(sql).ok_or_else(|| server(900, "invalid SQL statement"))?.to_owned();
        let mut state = self.state();
        state.seen.insert(name.clone());
        state.fault(&name)?;
        while state.hanging.contains(&name) {
            state.waited_for.insert(name.clone());
            drop(state);
            std::thread::sleep(Duration::from_millis(5));
            state = self.state();
        }
        state.waited_for.remove(&name);
        Ok(name)
    }
}

fn table_of(sql: &str, before: &str) -> String {
    numbers::word_after(sql, before).unwrap_or_else(|| panic!("no table after `{before}`: {sql}"))
}

impl State {
    fn fault(&mut self, name: &str) -> Result<(), Failure> {
        let Some((code, times)) = self.faults.get_mut(name).filter(|(_, times)| *times > 0) else { return Ok(()) };
        *times -= 1;
        Err(match *code {
            3_113 => Failure::Lost("end-of-file on communication channel".to_owned()),
            code => server(code, "made up"),
        })
    }

    fn create(&mut self, name: String, keys: Vec<u64>) -> Result<u64, Failure> {
        if self.tables.contains_key(&name) {
            return Err(server(955, "name is already used by an existing object"));
        }
        self.next += 1;
        let rows = keys.len() as u64;
        self.tables.insert(name, Table { object: self.next, keys: Arc::new(keys), ..Table::default() });
        Ok(rows)
    }

    fn table(&mut self, name: &str) -> Result<&mut Table, Failure> {
        self.tables.get_mut(name).ok_or_else(|| server(942, "table or view does not exist"))
    }

    fn execute(&mut self, sid: u64, name: &str, sql: &str, binds: &Binds) -> Result<u64, Failure> {
        match name {
            "create_registry" => self.create(table_of(sql, "CREATE TABLE "), Vec::new()).map(|_| 0),
            "mark_registry" => {
                let comment = sql.split('\'').nth(1).map(str::to_owned);
                self.table(&table_of(sql, "ON TABLE "))?.comment = comment;
                Ok(0)
            }
            "blocks" => self.create(table_of(sql, "CREATE TABLE "), numbers::keys(sql)),
            "index" => {
                self.table(&table_of(sql, " ON "))?.indexed = true;
                Ok(0)
            }
            "drop" => {
                let table = table_of(sql, "DROP TABLE ");
                self.table(&table)?;
                self.tables.remove(&table);
                if self.tables.is_empty() {
                    self.registry.clear();
                }
                Ok(0)
            }
            "enter" => {
                let own = self.sessions.entry(sid).or_default();
                (own.module, own.action) = (binds.text("module"), binds.text("action"));
                Ok(1)
            }
            "lock_alone" | "lock_share" => self.lock(sid, name == "lock_alone", &table_of(sql, "LOCK TABLE ")),
            "begin_table" | "end_table" | "forget_table" | "store_proof" => self.register(name, binds),
            "update" => {
                let table = table_of(sql, "NO_PARALLEL(b) */ ");
                let blocks = self.visit(sid, &table, binds.integer("first_key"), binds.integer("last_key"))?;
                self.count(sid, "redo size", 500 * blocks);
                Ok(blocks)
            }
            "commit" => {
                self.locks.remove(&sid);
                self.count(sid, "user commits", 1);
                if sql.contains("IMMEDIATE WAIT") {
                    self.count(sid, "redo synch writes", 1);
                }
                Ok(0)
            }
            "explain" => {
                self.plan = views::plan(sql);
                Ok(0)
            }
            "forget_plan" => {
                self.plan.clear();
                Ok(0)
            }
            "serial" | "serial_index" => Ok(0),
            _ => panic!("no statement is called {name}"),
        }
    }

    fn lock(&mut self, sid: u64, alone: bool, table: &str) -> Result<u64, Failure> {
        self.table(table)?;
        let busy = self.locks.iter().any(|(other, theirs)| *other != sid && (alone || *theirs));
        if busy {
            return Err(server(54, "resource busy and acquire with NOWAIT specified or timeout expired"));
        }
        self.locks.insert(sid, alone);
        Ok(0)
    }

    fn register(&mut self, name: &str, binds: &Binds) -> Result<u64, Failure> {
        let table = binds.text("name");
        let object = self.tables.get(&table).map(|table| table.object);
        match name {
            "begin_table" => {
                let [kind, seed, content] = ["kind", "seed", "content"].map(|name| binds.text(name));
                let [schema, blocks, shape] =
                    ["schema_no", "blocks", "shape"].map(|name| binds.integer(name).to_string());
                let of_load = [kind, schema, blocks, seed, content, shape];
                if self.registry.insert(table, Registered { of_load, ..Registered::default() }).is_some() {
                    return Err(server(1, "unique constraint violated"));
                }
            }
            "forget_table" => drop(self.registry.remove(&table)),
            _ => {
                let Some(row) = self.registry.get_mut(&table) else { return Ok(0) };
                if name == "end_table" {
                    row.object = object;
                } else {
                    row.proof = Some(binds.text("proof"));
                }
            }
        }
        Ok(1)
    }

    pub(crate) fn count(&mut self, sid: u64, statistic: &'static str, by: u64) {
        *self.sessions.entry(sid).or_default().statistics.entry(statistic).or_default() += by;
    }

    pub(crate) fn visit(&mut self, sid: u64, table: &str, first: i64, last: i64) -> Result<u64, Failure> {
        let rows = self.table(table)?.keys.len() as i64;
        let blocks = (last.min(rows) - first.max(1) + 1).max(0).unsigned_abs();
        self.count(sid, "session logical reads", blocks + 3);
        self.count(sid, "consistent gets", blocks + 3);
        self.count(sid, "physical reads", blocks / 2);
        self.count(sid, "physical read IO requests", blocks / 2);
        Ok(blocks)
    }

    fn query(&mut self, sid: u64, name: &str, sql: &str, binds: &Binds) -> Result<Vec<Row>, Failure> {
        match name {
            "plan" => Ok(self.plan.iter().map(|line| vec![Some(line.clone())]).collect()),
            "select" => {
                let table = table_of(sql, "\nFROM ");
                let blocks = self.visit(sid, &table, binds.integer("first_key"), binds.integer("last_key"))?;
                Ok(vec![vec![Some(blocks.to_string())]])
            }
            "scan" => {
                let table = table_of(sql, " FROM ");
                let blocks = self.visit(sid, &table, 1, i64::MAX - 1)?;
                Ok(vec![vec![Some(blocks.to_string())]])
            }
            "registry" => {
                self.table(&table_of(sql, "\nFROM "))?;
                Ok(views::registry(self))
            }
            _ => Ok(views::rows(self, sid, name, sql, binds)),
        }
    }
}
