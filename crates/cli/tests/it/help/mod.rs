//! What the binary says of itself.

#[cfg(all(feature = "sqlite", feature = "raw"))]
mod manuals;
mod version;
