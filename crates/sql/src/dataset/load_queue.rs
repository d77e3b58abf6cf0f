//! The tables of a load, made by streams side by side.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use crate::dataset::table_registry::Table;
use mindful_core::contract::event::{Event, Events};
use mindful_core::{Error, Result};

/// One queue for all streams, so that no stream waits for another's table.
#[derive(Debug)]
pub struct LoadQueue {
    tables: Mutex<Vec<Table>>,
    blocks: u64,
    done: AtomicU64,
}

impl LoadQueue {
    /// A queue of `tables`; the last is made first.
    pub fn new(tables: Vec<Table>) -> Self {
        Self {
            blocks: tables.iter().map(|table| table.blocks).sum(),
            tables: Mutex::new(tables),
            done: AtomicU64::new(0),
        }
    }

    pub fn blocks(&self) -> u64 {
        self.blocks
    }

    /// Does `stream` on so many threads, each with its first table, as far as there are tables. It makes them
    /// by [`LoadQueue::make`].
    pub fn run_streams(&self, streams: u32, stream: impl Fn(Table) -> Result<()> + Sync) -> Result<()> {
        let stream = || self.next().map_or(Ok(()), &stream);
        let results: Vec<Result<()>> = std::thread::scope(|scope| {
            let start = |_| Builder::new().name("load".to_owned()).spawn_scoped(scope, stream);
            let threads: Vec<_> = (0..streams.max(1)).map(start).collect();
            let broken = |_| Err(Error::run("a load stream failed", "load again"));
            let refused = |error| {
                self.tables().clear();
                Error::run(format!("cannot start a load stream: {error}"), "raise ulimit -u, or load fewer streams")
            };
            threads.into_iter().map(|thread| thread.map_err(refused)?.join().unwrap_or_else(broken)).collect()
        });
        results.into_iter().collect()
    }

    /// Makes `first`, and then one table after another. A failure empties the queue, so that the other streams end with
    /// their table.
    pub fn make_tables(&self, first: Table, mut make: impl FnMut(Table) -> Result<()>) -> Result<()> {
        let mut table = Some(first);
        while let Some(current) = table {
            make(current).inspect_err(|_| self.tables().clear())?;
            table = self.next();
        }
        Ok(())
    }

    pub fn emit_progress(&self, written: u64, block_bytes: u64, events: &dyn Events) {
        let done = self.done.fetch_add(written, Ordering::Relaxed) + written;
        events.emit(Event::Progress {
            what: "loading".to_owned(),
            done: done * block_bytes,
            of: self.blocks * block_bytes,
            unit: "bytes".to_owned(),
        });
    }

    fn next(&self) -> Option<Table> {
        self.tables().pop()
    }

    fn tables(&self) -> MutexGuard<'_, Vec<Table>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::table_registry::TableKind;

    fn queue(schemas: u32) -> LoadQueue {
        LoadQueue::new((1..=schemas).map(|schema| Table { kind: TableKind::Blocks, schema, blocks: 2 }).collect())
    }

    #[test]
    fn every_table_is_made_once_by_however_many_streams() {
        for streams in [0, 1, 3, 9] {
            let (queue, made) = (queue(5), Mutex::new(Vec::new()));
            assert_eq!(queue.blocks(), 10);
            let one = |table: Table| {
                made.lock().unwrap().push(table.schema);
                Ok(())
            };
            queue.run_streams(streams, |first| queue.make_tables(first, one)).unwrap();
            let mut made = made.into_inner().unwrap();
            made.sort_unstable();
            assert_eq!(made, [1, 2, 3, 4, 5], "{streams} streams");
        }
    }

    #[test]
    fn a_failure_ends_the_load_with_the_tables_under_way() {
        let (queue, made) = (queue(5), AtomicU64::new(0));
        let fails = |table: Table| {
            made.fetch_add(1, Ordering::SeqCst);
            if table.schema == 4 { Err(Error::run("full", "free some")) } else { Ok(()) }
        };
        assert!(
            queue.run_streams(1, |first| queue.make_tables(first, fails)).unwrap_err().to_string().contains("full")
        );
        assert_eq!(made.into_inner(), 2);
    }
}
