//! When updates are committed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mindful_core::workload::Commit;
use mindful_sql::work::CommitPolicy;

use crate::connect::Conn;
use crate::error::Failure;

/// Transactions that all sessions of a target have committed. The server's own counters count statements, not these.
#[derive(Debug, Default)]
pub(crate) struct Committed(AtomicU64);

impl Committed {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

pub(crate) struct Commits {
    policy: CommitPolicy,
    all: Arc<Committed>,
    unpublished: u64,
}

impl Commits {
    pub(crate) fn new(mode: Commit, all: &Arc<Committed>) -> Self {
        Self { policy: CommitPolicy::new(mode), all: Arc::clone(all), unpublished: 0 }
    }

    pub(crate) fn before(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        if self.policy.begins() { conn.query_drop("BEGIN") } else { Ok(()) }
    }

    pub(crate) fn after(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        if self.policy.count_update() { self.commit(conn) } else { Ok(()) }
    }

    /// At the end of a slice: commits an open transaction, and publishes the number of commits.
    pub(crate) fn end_slice(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        self.commit(conn)?;
        self.all.0.fetch_add(std::mem::take(&mut self.unpublished), Ordering::Release);
        Ok(())
    }

    fn commit(&mut self, conn: &mut Conn) -> Result<(), Failure> {
        if self.policy.end() {
            if !self.policy.is_autocommit() {
                conn.query_drop("COMMIT")?;
            }
            self.unpublished += 1;
        }
        Ok(())
    }
}
