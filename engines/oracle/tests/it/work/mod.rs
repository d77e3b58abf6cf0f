//! Every text that the engine renders, and the arithmetic of a slice.

mod buckets;
mod grammar;
pub(crate) mod shapes;
