//! Every text that the engine renders, and the arithmetic of a slice.

mod grammar;
mod model;
pub(crate) mod shapes;
