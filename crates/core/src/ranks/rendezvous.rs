//! The rendezvous of the ranks of a run: rows and chunks of bytes that all of them can read, and one clock for all.
//!
//! A row belongs to one rank of one job. It is valid until its lease ends by the rendezvous' own clock, not by the
//! clocks of the hosts. A running rank renews it. Calls here do not wait, and nothing is pushed: the caller polls.

use std::time::Duration;

use crate::contract::error::{Error, Result};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRow {
    /// Number of the rank, from 0.
    pub rank: u32,
    /// Distinguishes this process from another one with the same number.
    pub token: String,
    pub body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerRow {
    pub row: RankRow,
    /// Whether its lease is over: its rank is gone.
    pub expired: bool,
}

/// Longest lease. A row with a later end violates this contract and is ignored.
pub(crate) const LONGEST_LEASE: Duration = Duration::from_mins(2);

/// Whether a lease until `expires_us` holds nothing at `now_us`.
pub fn is_lease_over(expires_us: i64, now_us: i64) -> bool {
    !(now_us..=now_us.saturating_add(LONGEST_LEASE.as_micros() as i64)).contains(&expires_us)
}

/// Longest time for which anything of a dead job is kept after its last renewal.
pub const RETENTION: Duration = Duration::from_hours(24);

/// Most bytes of a chunk: small enough for any server to take in one statement.
pub const MAX_CHUNK_BYTES: usize = 256 << 10;

/// A place to meet, shared by all threads of a rank.
pub trait Rendezvous: Send + Sync {
    /// Its place, for messages; contains no secrets.
    fn location(&self) -> String;

    /// Creates the rendezvous' objects, or finds the objects of other ranks. Must be called first. By default it does
    /// nothing.
    ///
    /// # Errors
    /// The place contains objects that are not mindful's, or that were changed.
    fn prepare(&self) -> Result<()> {
        Ok(())
    }

    /// Now by the meeting's clock, us since the epoch.
    fn now_us(&self) -> Result<i64>;

    /// Error of one reading of its clock, without its round trip, us.
    fn precision_us(&self) -> i64 {
        0
    }

    /// Claims the place of `row.rank` in `job`. If another process holds it, returns that process's row. Rows of dead
    /// jobs that are older than [`RETENTION`] are removed.
    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>>;

    /// Changes the row, or renews it. Returns whether the place still belongs to this process.
    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool>;

    /// All rows of `job`, by rank.
    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>>;

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>>;

    /// Leaves chunk number `chunk` of `rank`, in place of one that has its number.
    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()>;

    /// A written chunk; `None` if it does not exist yet.
    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>>;

    /// Removes the row and the chunks of one rank, or of all ranks without a number.
    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()>;

    /// Ends all waits of running calls, which fail as interrupted; later calls may fail too. Called from another thread
    /// after a stop request. By default nothing waits.
    fn abort(&self) {}
}

/// The refusal of a private server, which each rank would start for itself; `server` is the URL of one that is not.
pub fn private_server_error(server: &str) -> Error {
    Error::plan(
        "ranks cannot share a private server: each would start its own",
        format!("pass --target {server} of a server that all ranks reach"),
    )
}

/// The refusal of a target in which ranks cannot meet.
pub fn unsupported_engine_error(engine: &str) -> Error {
    Error::plan(
        format!("ranks cannot meet in a target of {engine}"),
        "pass --meet: postgres://… or mysql://… of a database, or dir:PATH of a folder that all ranks share",
    )
}

/// The refusal of a target that is a file: its locks cross no network as surely as whole files in a folder do.
pub fn file_target_error(engine: &str) -> Error {
    Error::plan(
        format!("ranks cannot meet in a file of {engine}: its locks do not hold on every shared storage"),
        "pass --meet dir:PATH with another folder, or the URL of a database",
    )
}
