//! The tests of this crate from outside, in one program, so that one can wait while others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod compare;
mod doctor;
mod export;
mod help;
#[cfg(any(feature = "postgres", feature = "mysql"))]
mod hostile;
mod house;
mod import;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod lies;
mod load;
#[expect(dead_code, reason = "the tests of crates/import use the other layouts")]
#[path = "../../../import/tests/it/made/mod.rs"]
mod made;
#[cfg(feature = "mysql")]
mod mariadb;
mod mindful;
#[cfg(feature = "oracle")]
mod oracle;
#[cfg(all(feature = "postgres", feature = "raw"))]
#[path = "../../../../engines/postgres/tests/it/pgbouncer.rs"]
mod pgbouncer;
mod plan;
mod ranks;
mod raw;
mod run;
mod show;
mod squeeze;
mod stops;
mod sweep;
mod watch;
