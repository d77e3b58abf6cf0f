//! A room that one rank cannot reach any more, after a while.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Time;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous};
use mindful_core::{Error, Result};
use mindful_null::{Room, SimulatedClock};

/// As the rank sees it.
pub struct CutOff {
    pub room: Arc<Room>,
    pub clock: SimulatedClock,
    pub after: Duration,
}

impl CutOff {
    fn room(&self) -> Result<&Room> {
        if self.clock.elapsed() < self.after {
            return Ok(&self.room);
        }
        Err(Error::target("the room cannot be reached", "look at the network"))
    }
}

impl Rendezvous for CutOff {
    fn location(&self) -> String {
        self.room.location()
    }

    fn now_us(&self) -> Result<i64> {
        self.room()?.now_us()
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        self.room()?.claim_rank(job, row, lease)
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        self.room()?.update_row(job, row, lease)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.room()?.read_rows(job)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        self.room()?.read_row(job, rank)
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.room()?.write_chunk(job, rank, chunk, bytes)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        self.room()?.read_chunk(job, rank, chunk)
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        self.room()?.remove_rows(job, rank)
    }
}
