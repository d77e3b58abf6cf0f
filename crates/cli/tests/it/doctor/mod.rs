//! `mindful doctor`.

mod agreement;
mod null;
#[cfg(feature = "postgres")]
mod private;
