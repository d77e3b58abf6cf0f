//! `mindful sweep`.

mod null;
#[cfg(feature = "postgres")]
mod postgres;
