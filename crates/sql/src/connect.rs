//! Connections: where a URL and the environment lead, the control connection, how work is aborted, and words for errors.

pub mod abort;
mod bounded_file;
pub mod control;
pub mod driver_panic;
pub mod environment;
pub mod error_text;
#[cfg(feature = "tls")]
pub mod tls;
pub mod url;

pub use bounded_file::read_bounded;
