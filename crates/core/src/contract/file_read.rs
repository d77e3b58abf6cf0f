//! Reads of bare files, with which the reads of a database are compared.

use std::path::PathBuf;

stored_names! {
    /// Use of each block in memory, from least to most work.
    pub enum BlockTouch {
        /// The CPU does not access the data.
        None = "none",
        /// One byte is read.
        Byte = "byte",
        /// A checksum over all bytes.
        Checksum = "checksum",
        /// The block is copied and its rows are walked like those of a database page.
        Parse = "parse",
    }
}

/// I/Os in flight at a time, of a step unless stated as of one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// I/Os of a block.
    pub small: u32,
    /// Large reads.
    pub large: u32,
}

impl InFlight {
    /// Small and large I/Os together.
    pub const fn total(self) -> u32 {
        self.small + self.large
    }
}

stored_names! {
    /// Options of every engine of bare files. They are facts too: they record how a run read its files.
    pub enum FileOption {
        /// Number of I/Os that each session keeps in flight.
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

/// Options that make an engine read files in a certain way.
pub trait FileReads: Sync {
    /// The URL of these files.
    fn url(&self, files: &[PathBuf]) -> String;

    /// The options for one direct read in flight per session and `touch` on every block; on a single CPU if `cpu` is
    /// set.
    fn options(&self, touch: BlockTouch, cpu: Option<usize>) -> Vec<(&'static str, String)>;

    /// The same by which each session keeps `load` in flight.
    fn options_for_load(&self, load: InFlight) -> Vec<(&'static str, String)>;
}
