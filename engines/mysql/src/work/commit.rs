//! When updates are committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mindful_core::workload::Commit;
use mysql::Conn;
use mysql::prelude::Queryable;

use crate::error::Failure;

/// Transactions that all sessions of a target have committed. The server's own counters know statements, not these.
#[derive(Debug, Default)]
pub struct Committed(AtomicU64);

impl Committed {
    /// How many there are by now.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The open transaction of a session.
pub struct Commits {
    mode: Commit,
    all: Arc<Committed>,
    open: u32,
    unpublished: u64,
}

impl Commits {
    /// Of a session that commits by `mode` and adds to `all`.
    pub fn new(mode: Commit, all: &Arc<Committed>) -> Self {
        Self { mode, all: Arc::clone(all), open: 0, unpublished: 0 }
    }

    /// Before an update: opens a transaction where updates share one.
    pub fn before(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        if self.mode != Commit::Each && self.open == 0 {
            conn.query_drop("BEGIN")?;
        }
        Ok(())
    }

    /// Behind an update: commits where it is time.
    pub fn behind(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        self.open += 1;
        match self.mode {
            Commit::Each => {
                self.open = 0;
                self.unpublished += 1;
                Ok(())
            }
            Commit::Every(every) if self.open >= every => self.commit(conn),
            _ => Ok(()),
        }
    }

    /// At the end of a slice: commits what is open and tells what was committed.
    pub fn end_slice(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        self.commit(conn)?;
        self.all.0.fetch_add(std::mem::take(&mut self.unpublished), Ordering::Release);
        Ok(())
    }

    fn commit(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        if self.open > 0 {
            conn.query_drop("COMMIT")?;
            self.open = 0;
            self.unpublished += 1;
        }
        Ok(())
    }
}
