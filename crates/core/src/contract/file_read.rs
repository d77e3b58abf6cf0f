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

/// I/Os in flight at a time: of a step, or of one session where that is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// I/Os of a block.
    pub small: u32,
    /// Large reads.
    pub large: u32,
}

impl InFlight {
    /// All of them.
    pub const fn total(self) -> u32 {
        self.small + self.large
    }
}

stored_names! {
    /// An option, and fact, that every engine of bare files has by this name: it shows how a run read its files.
    pub enum FileOption {
        /// How many I/Os each session keeps in flight.
        Iodepth = "iodepth",
        /// The number of large reads among them.
        LargeIodepth = "large_iodepth",
        /// Length of a large read.
        LargeSize = "large_size",
        /// By which call blocks are read.
        Io = "io",
        /// The part of the files in use.
        Span = "span",
        /// Writes between two syncs.
        SyncEvery = "fsync",
        /// Whether writes go to the end of a growing file.
        Append = "append",
    }
}

/// The value of [`FileOption::Io`] by which a session reads one block at a time.
pub const ONE_AT_A_TIME: &str = "psync";

/// The files that the URL of an engine of bare files names: the part after its scheme.
pub fn files_in_url(url: &str) -> &str {
    url.split_once(':').map_or(url, |(_, files)| files)
}

/// How an engine is asked to read files.
pub trait FileReads: Sync {
    /// The URL of these files.
    fn url(&self, files: &[PathBuf]) -> String;

    /// The options, with their values, by which each session keeps one direct read in flight and does `touch` with
    /// every block; all on one CPU if one is given.
    fn options(&self, touch: BlockTouch, cpu: Option<usize>) -> Vec<(&'static str, String)>;

    /// The same by which each session keeps `load` in flight.
    fn options_for_load(&self, load: InFlight) -> Vec<(&'static str, String)>;
}
