//! Which schemas a session visits, so that all sessions together visit all schemas alike.
//!
//! The sessions divide the blocks of all schemas evenly: laid end to end, schemas are a line of `schemas * sessions`
//! pieces, and each session has the next `schemas` of them. One session visits all schemas, two of four schemas visit
//! two each, six of four share some. Where sessions are a multiple of schemas each stays in one.

use std::ops::RangeInclusive;

use super::Workload;
use crate::workload::draw;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaShare {
    pub before: u64,
    pub pieces: u64,
    pub pieces_per_schema: u64,
    /// Seed of the draws that choose a piece.
    pub stream: i64,
}

impl SchemaShare {
    /// The schemas of `session` (from 0), which stays in `home` (from 1) unless the workload spreads sessions.
    pub(crate) fn new(workload: &Workload, session: u32, home: u32, stream: i64) -> Self {
        let Some(sessions) = workload.spread_sessions.map(u64::from).filter(|sessions| *sessions > 0) else {
            return Self { before: u64::from(home.max(1)) - 1, pieces: 1, pieces_per_schema: 1, stream };
        };
        let schemas = u64::from(workload.schemas.max(1));
        // Sessions are ordered by their home schema, so that a multiple of the schemas gets the same result as without
        // spreading.
        let (first, turn) = (u64::from(session) % schemas, u64::from(session) / schemas);
        let rank = first * (sessions / schemas) + first.min(sessions % schemas) + turn;
        Self { before: rank * schemas, pieces: schemas, pieces_per_schema: sessions, stream }
    }

    /// The schema of operation `index`, from 1.
    #[inline]
    pub fn schema(&self, index: u64) -> u32 {
        let piece = if self.pieces > 1 { draw::draw(index, self.stream) % self.pieces } else { 0 };
        ((self.before + piece) / self.pieces_per_schema + 1) as u32
    }

    /// All schemas it can choose, from 1.
    pub fn schemas(&self) -> RangeInclusive<u32> {
        let of = |piece: u64| (piece / self.pieces_per_schema + 1) as u32;
        of(self.before)..=of(self.before + self.pieces - 1)
    }
}
