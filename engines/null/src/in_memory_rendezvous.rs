//! A rendezvous in the memory of one process, for simulated ranks: each is a thread, and all go by one clock.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous, is_lease_over};
use mindful_core::{Error, Result};

#[derive(Debug)]
pub struct InMemoryRendezvous {
    clock: Arc<dyn Clock>,
    held: Arc<Mutex<Held>>,
    /// When it stops to answer, by the clock's own time.
    lost_at: Option<Duration>,
}

#[derive(Debug, Default)]
struct Held {
    /// Each row with the end of its lease.
    rows: BTreeMap<(String, u32), (RankRow, i64)>,
    chunks: BTreeMap<(String, u32, u32), Vec<u8>>,
    calls: u64,
}

impl InMemoryRendezvous {
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, held: Arc::default(), lost_at: None }
    }

    /// The same for a rank that loses it at `lost_at`, by the clock's own time.
    #[must_use]
    pub fn lost_at(&self, lost_at: Duration) -> Self {
        Self { clock: Arc::clone(&self.clock), held: Arc::clone(&self.held), lost_at: Some(lost_at) }
    }

    fn held(&self) -> Result<MutexGuard<'_, Held>> {
        if self.lost_at.is_some_and(|lost_at| self.clock.elapsed() >= lost_at) {
            return Err(Error::target("the rendezvous does not answer", "check the network"));
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.calls += 1;
        Ok(held)
    }

    /// Number of reads and writes so far, and bytes in chunks that were not removed.
    pub fn traffic(&self) -> (u64, usize) {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        (held.calls, held.chunks.values().map(Vec::len).sum())
    }

    /// Whether no job has left anything.
    pub fn is_empty(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.rows.is_empty() && held.chunks.is_empty()
    }

    fn expires_us(&self, lease: Duration) -> i64 {
        self.clock.now_us() + lease.as_micros() as i64
    }

    fn seen(&self, row: &(RankRow, i64)) -> PeerRow {
        PeerRow { row: row.0.clone(), expired: is_lease_over(row.1, self.clock.now_us()) }
    }
}

impl Rendezvous for InMemoryRendezvous {
    fn location(&self) -> String {
        "the memory of this process".to_owned()
    }

    fn now_us(&self) -> Result<i64> {
        Ok(self.clock.now_us())
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        let (expires_us, mut held) = (self.expires_us(lease), self.held()?);
        let place = held.rows.entry((job.to_owned(), row.rank)).or_insert_with(|| (row.clone(), expires_us));
        if place.0.token != row.token && !is_lease_over(place.1, self.clock.now_us()) {
            return Ok(Some(place.0.clone()));
        }
        *place = (row.clone(), expires_us);
        Ok(None)
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        let (expires_us, mut held) = (self.expires_us(lease), self.held()?);
        let Some(place) = held.rows.get_mut(&(job.to_owned(), row.rank)) else { return Ok(false) };
        let own = place.0.token == row.token;
        if own {
            *place = (row.clone(), expires_us);
        }
        Ok(own)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        let held = self.held()?;
        Ok(held.rows.iter().filter(|((of, _), _)| of == job).map(|(_, row)| self.seen(row)).collect())
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        Ok(self.held()?.rows.get(&(job.to_owned(), rank)).map(|row| self.seen(row)))
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.held()?.chunks.insert((job.to_owned(), rank, chunk), bytes.to_vec());
        Ok(())
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        Ok(self.held()?.chunks.get(&(job.to_owned(), rank, chunk)).cloned())
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        let mut held = self.held()?;
        let goes = |of: &str, number: u32| of == job && rank.is_none_or(|rank| rank == number);
        held.rows.retain(|(of, number), _| !goes(of, *number));
        held.chunks.retain(|(of, number, _), _| !goes(of, *number));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::contract::clock::Time;

    use super::*;
    use crate::SimulatedClock;

    #[test]
    fn rows_and_chunks_are_kept_apart() {
        let clock = SimulatedClock::default();
        let rendezvous = InMemoryRendezvous::new(Arc::new(clock.clone()));
        let pause = |time: Duration| {
            clock.sleep_unless(clock.now_us() + time.as_micros() as i64, &|| false);
        };
        mindful_conformance::rendezvous::rows_and_chunks_are_kept_apart(&rendezvous, &pause);
        assert!(rendezvous.is_empty());
    }
}
