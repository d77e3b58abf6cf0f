//! `mindful doctor`.

mod null;
#[cfg(feature = "postgres")]
mod private;
