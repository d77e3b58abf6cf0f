//! From a URL to a connection: the address, the password, and in words why it failed.

pub(crate) mod abort;
mod address;
pub mod driver;
mod explain;
pub(crate) mod link;
mod password;
#[cfg(feature = "thin")]
pub(crate) mod thin;

pub(crate) use address::{Address, redact};
pub(crate) use explain::{Doing, explain};
pub(crate) use password::{PASSWORD, of_wallet, password};
