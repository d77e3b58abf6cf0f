//! `mindful load`, `verify` and `cleanup`.

#[cfg(feature = "postgres")]
mod private;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod space;
