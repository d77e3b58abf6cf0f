//! The tests of this crate from outside, in one program, so that one can wait while others work.

mod exporter;
mod machine;
mod observing;
mod partition;
