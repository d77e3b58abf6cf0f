//! The tests of this crate from outside, in one program, so that what waits in one lets the others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod hostile;
mod killed;
mod packs;
mod sample;
mod store;
