//! A single wait.

/// A wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait<'a> {
    /// Number of its cursor.
    pub cursor: u64,
    /// The event, as it stands in the trace.
    pub event: &'a [u8],
    /// How long, us.
    pub ela_us: u64,
    /// Names and values of its three parameters; fewer where the line has fewer.
    pub parameters: [Option<(&'a [u8], u64)>; 3],
    /// The object, if one is reported.
    pub object: Option<i64>,
    /// When it ended, us on the trace's clock.
    pub tim_us: Option<u64>,
}

impl Wait<'_> {
    /// The parameter of that name, or of that place in old traces, which number them.
    pub fn parameter(&self, names: &[&[u8]], place: usize) -> Option<u64> {
        let by_name = self.parameters.iter().flatten().find(|(name, _)| names.contains(name));
        let by_place = || self.parameters[place].filter(|(name, _)| name.len() == 2 && name[0] == b'p');
        by_name.copied().or_else(by_place).map(|(_, value)| value)
    }

    /// Blocks that it read; `None` where the event reads none.
    pub fn blocks(&self) -> Option<u64> {
        match self.event {
            b"db file parallel read" => self.parameter(&[b"blocks"], 1),
            event if event.starts_with(b"cell list of blocks") => self.parameter(&[b"blocks"], 1),
            // cellhash#, diskhash#, bytes.
            event if event.starts_with(b"cell single block") => Some(1),
            event if event.starts_with(b"db file s") || event.starts_with(b"direct path ") => {
                self.parameter(&[b"blocks", b"block cnt"], 2)
            }
            _ => None,
        }
    }
}
