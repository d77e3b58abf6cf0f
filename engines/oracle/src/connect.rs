//! From a URL to a connection: the address, the password, and in words why it failed.

mod address;
mod explain;
mod password;

pub use address::{Address, redact};
pub use explain::{Doing, explain};
pub use password::{PASSWORD, of_wallet, password};
