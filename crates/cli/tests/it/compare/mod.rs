//! `mindful compare` and `mindful contrast`.

#[cfg(all(feature = "postgres", feature = "raw"))]
mod contrast;
mod null;
#[cfg(feature = "postgres")]
mod postgres;
mod ranks;
