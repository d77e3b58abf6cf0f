//! The tests of this crate from outside, in one program, so that one can wait while others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod access;
mod catalogue;
mod claims;
mod cliff;
mod commits;
mod comparability;
mod compare;
mod cpu_cost;
mod durability;
mod files;
mod heat;
mod judged;
mod judgement;
mod knee_curves;
mod little;
mod made;
mod merged;
mod network;
mod ranks;
mod steady_signals;
mod synthetic;
mod uneven;
mod window;
mod witnesses;
