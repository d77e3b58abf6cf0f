//! `mindful watch`.

#[cfg(all(feature = "postgres", feature = "raw"))]
mod instance;
mod lines;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod poolers;
