//! `mindful watch`: a line a second in fixed columns, or every counter.

mod columns;
mod second;

pub use columns::WatchColumns;
pub(crate) use second::Source;
pub use second::{CounterFilter, WatchedSecond, WatchedSources};
