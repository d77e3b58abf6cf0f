//! `mindful raw` and raw files under `mindful run`, on real files.
#![cfg(feature = "raw")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod denied;
mod jobs;
mod large;
mod place;
