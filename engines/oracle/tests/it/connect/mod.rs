//! The real driver, errors, and statements that never end.

mod errors;
mod stops;
mod wire;
