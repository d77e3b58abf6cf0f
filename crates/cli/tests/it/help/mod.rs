//! What the binary prints about itself.

mod engines;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod manuals;
mod verbs;
mod version;
