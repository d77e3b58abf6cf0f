//! A value that is used and never shown.

use std::fmt;

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(Vec<u8>);

impl Secret {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The value, for the server only.
    pub(super) fn reveal(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}
