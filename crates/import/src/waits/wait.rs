//! A single wait.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait<'a> {
    pub cursor: u64,
    pub event: &'a [u8],
    pub ela_us: u64,
    /// Names and values of its three parameters; fewer where the line has fewer.
    pub parameters: [Option<(&'a [u8], u64)>; 3],
    pub object: Option<i64>,
    /// When it ended, us on the trace's clock.
    pub tim_us: Option<u64>,
}

impl Wait<'_> {
    /// The parameter of that name, or of that place in old traces, which number them.
    pub(crate) fn parameter(&self, names: &[&[u8]], place: usize) -> Option<u64> {
        let by_name = self.parameters.iter().flatten().find(|(name, _)| names.contains(name));
        let by_place = || self.parameters[place].filter(|(name, _)| name.len() == 2 && name[0] == b'p');
        by_name.copied().or_else(by_place).map(|(_, value)| value)
    }

    /// Bytes that it read, where Exadata shows these instead of blocks.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let reads =
            [&b"cell single block p"[..], b"cell multiblock p"].iter().any(|begin| self.event.starts_with(begin));
        // cellhash#, diskhash#, bytes.
        self.parameter(&[b"bytes"], 2).filter(|bytes| reads && *bytes > 0)
    }

    /// The length of a block if the wait shows it: the bytes of a read of one.
    pub(crate) fn block_bytes(&self) -> Option<u64> {
        self.bytes().filter(|_| self.event.starts_with(b"cell single block p"))
    }

    /// Blocks that it read; `None` if the event reads none, or shows bytes and the length of a block is unknown.
    pub(crate) fn blocks(&self, block_bytes: Option<u64>) -> Option<u64> {
        match self.event {
            event if event.starts_with(b"cell multiblock p") => {
                let (bytes, block) = self.bytes().zip(block_bytes)?;
                bytes.is_multiple_of(block).then(|| bytes / block)
            }
            b"db file parallel read" => self.parameter(&[b"blocks"], 1),
            event if event.starts_with(b"cell list of blocks") => self.parameter(&[b"blocks"], 1),
            event if event.starts_with(b"cell single block") => Some(1),
            event if event.starts_with(b"db file s") || event.starts_with(b"direct path ") => {
                self.parameter(&[b"blocks", b"block cnt"], 2)
            }
            _ => None,
        }
    }
}
