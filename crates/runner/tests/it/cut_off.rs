//! A room that one rank cannot reach any more, after a while.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Time;
use mindful_core::ranks::meeting::{Meeting, Row, Seen};
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

impl Meeting for CutOff {
    fn place(&self) -> String {
        self.room.place()
    }

    fn now_us(&self) -> Result<i64> {
        self.room()?.now_us()
    }

    fn join(&self, job: &str, row: &Row, lease: Duration) -> Result<Option<Row>> {
        self.room()?.join(job, row, lease)
    }

    fn post(&self, job: &str, row: &Row, lease: Duration) -> Result<bool> {
        self.room()?.post(job, row, lease)
    }

    fn look(&self, job: &str) -> Result<Vec<Seen>> {
        self.room()?.look(job)
    }

    fn look_at(&self, job: &str, rank: u32) -> Result<Option<Seen>> {
        self.room()?.look_at(job, rank)
    }

    fn send(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.room()?.send(job, rank, chunk, bytes)
    }

    fn take(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        self.room()?.take(job, rank, chunk)
    }

    fn clear(&self, job: &str, rank: Option<u32>) -> Result<()> {
        self.room()?.clear(job, rank)
    }
}
