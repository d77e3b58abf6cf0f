//! `mindful watch` and `mindful doctor`.

mod lines;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod poolers;
