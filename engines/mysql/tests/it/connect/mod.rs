//! Servers here and elsewhere, logins, TLS.

mod login;
mod remote;
mod several;
pub(crate) mod tls;
