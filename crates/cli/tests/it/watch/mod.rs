//! `mindful watch`.

mod lines;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod poolers;
