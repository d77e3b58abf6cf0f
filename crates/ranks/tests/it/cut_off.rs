//! A rendezvous that one rank loses, after a while.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Time;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous};
use mindful_core::{Error, Result};
use mindful_null::{InMemoryRendezvous, SimulatedClock};

pub(crate) struct CutOff {
    pub rendezvous: Arc<InMemoryRendezvous>,
    pub clock: SimulatedClock,
    pub after: Duration,
}

impl CutOff {
    fn rendezvous(&self) -> Result<&InMemoryRendezvous> {
        if self.clock.elapsed() < self.after {
            return Ok(&self.rendezvous);
        }
        Err(Error::target("the rendezvous does not answer", "check the network"))
    }
}

impl Rendezvous for CutOff {
    fn location(&self) -> String {
        self.rendezvous.location()
    }

    fn now_us(&self) -> Result<i64> {
        self.rendezvous()?.now_us()
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        self.rendezvous()?.claim_rank(job, row, lease)
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        self.rendezvous()?.update_row(job, row, lease)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.rendezvous()?.read_rows(job)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        self.rendezvous()?.read_row(job, rank)
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.rendezvous()?.write_chunk(job, rank, chunk, bytes)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        self.rendezvous()?.read_chunk(job, rank, chunk)
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        self.rendezvous()?.remove_rows(job, rank)
    }
}
