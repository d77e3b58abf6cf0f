//! Reads of bare files: what the reads of a database are compared with.

use std::path::PathBuf;

/// What is done with each block once it is in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockTouch {
    /// Nothing: the CPU never sees the data.
    None,
    /// One byte is read.
    Byte,
    /// A checksum over all bytes.
    Checksum,
    /// The block is copied and its rows are walked as those of a database page.
    Parse,
}

/// How an engine is told to read files.
pub trait FileReads: Sync {
    /// The URL of these files.
    fn url(&self, files: &[PathBuf]) -> String;

    /// Names and values of the options by which each session keeps one read past the page cache in flight and does `look`
    /// with every block; all of them on one CPU where one is given.
    fn options(&self, look: BlockTouch, cpu: Option<usize>) -> Vec<(&'static str, String)>;
}
