//! The tests of this crate from outside, in one program, so that what waits in one lets the others work.

mod conformance;
mod truth;
