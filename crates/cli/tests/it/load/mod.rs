//! `mindful load`, `verify` and `cleanup`.

#[cfg(feature = "postgres")]
mod private;
