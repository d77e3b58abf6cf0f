//! The tests of this crate from outside, in one program, so that what waits in one lets the others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod broken;
mod by_hand;
mod conformance;
mod hostile;
mod login;
mod measured;
mod meeting;
mod other_storage;
mod proof;
mod refused;
mod relay;
mod remote;
mod rights;
mod server;
mod several;
mod shared;
mod support;
mod tls;
mod waits;
