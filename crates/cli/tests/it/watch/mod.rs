//! `mindful watch`.

#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod instance;
mod lines;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod poolers;
