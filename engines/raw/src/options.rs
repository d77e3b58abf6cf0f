//! The options of the raw engine.

use std::path::PathBuf;

use mindful_core::contract::file_read::{BlockTouch, FileOption, ONE_AT_A_TIME};
use mindful_core::plan::Bound;
use mindful_core::plan::settings::{self, Key, Settings};
use mindful_core::{Error, Result, plan::units};
use mindful_host::cpu;

use crate::space::{Combine, Span};

/// Most I/Os a session may keep in flight.
pub const MOST_IODEPTH: u32 = 4_096;

/// Most bytes of buffers a session may have: the kernel registers up to 1 GiB in one piece.
const MOST_BUFFER_BYTES: u64 = 1 << 30;

const LARGEST_IO: u64 = 64 << 20;

const IO_SIZE: Bound = Bound::Size(512, LARGEST_IO);
const IODEPTH: Bound = Bound::Count(0, MOST_IODEPTH as u64);

/// Writes between two syncs.
const FSYNC: Bound = Bound::Count(0, 1_000_000);

pub const KEYS: &[Key] = &[
    Key::with_default("block_size", "SIZE", "8KiB", "Size of a block, and of each I/O").bounded(IO_SIZE),
    Key::with_default(
        FileOption::Io.name(),
        "KIND",
        "uring",
        "I/O method: uring (io_uring) or psync (pread, one at a time)",
    ),
    Key::with_default(FileOption::Iodepth.name(), "N", "1", "I/Os in flight per session (uring)").bounded(IODEPTH),
    Key::with_default("direct", "on|off", "on", "Bypass the page cache (O_DIRECT)"),
    Key::with_default("sync", "on|off", "off", "Wait at each write until it is on storage (O_DSYNC)"),
    Key::with_default(
        FileOption::SyncEvery.name(),
        "N",
        "0",
        "Make writes durable (fdatasync) after every N writes of a session; 0: never",
    )
    .bounded(FSYNC),
    Key::with_default(
        FileOption::Append.name(),
        "on|off",
        "off",
        "Write at the end of the file, which grows, and cut it back afterwards",
    ),
    Key::with_default("pattern", "KIND", "random", "Order of the blocks: random or sequential"),
    Key::with_default("streams", "N", "1", "Sequential streams per session").bounded(Bound::Count(1, 1_024)),
    Key::with_default(
        FileOption::Span.name(),
        "PART",
        "full",
        "Part to use: full, outer (first tenth), inner (last tenth), mix (three places), 10%..20%",
    ),
    Key::with_default("whole", "on|off", "off", "Read all files as one schema (default of `mindful raw`: on)"),
    Key::with_default("combine", "HOW", "concat", "Combine several files into one space: concat or stripe"),
    Key::with_default("stripe_size", "SIZE", "1MiB", "Size of a stripe").bounded(IO_SIZE),
    Key::with_default(
        FileOption::LargeIodepth.name(),
        "N",
        "0",
        "Large reads in flight per session, in addition to its blocks (uring)",
    )
    .bounded(IODEPTH),
    Key::with_default(FileOption::LargeSize.name(), "SIZE", "1MiB", "Size of a large read").bounded(IO_SIZE),
    Key::with_default("large_pattern", "KIND", "random", "Order of the large reads: random or sequential"),
    Key::with_default(
        "look",
        "HOW",
        "none",
        "Work on each block read: none, byte, checksum, or parse (copy it and walk its rows)",
    ),
    Key::unset("cpus", "LIST", "CPUs for the sessions, such as 0 or 0-3,6 (default: all)").one_value(),
    Key::with_default("verify", "on|off", "off", "Check the pattern of each block read"),
    Key::with_default("shared", "on|off", "off", "Read even if another run reads the files; the report notes it"),
    Key::unset("destroy_data", "DEVICE", "Allow writes to this block device, named again; its data is lost").command(),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Io {
    /// Through io_uring, `iodepth` at a time.
    Uring,
    /// By pread and pwrite, one at a time.
    Psync,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// As the workload's keys fall.
    Random,
    Sequential,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Large {
    pub iodepth: u32,
    /// Length in bytes.
    pub size: u64,
    pub pattern: Pattern,
}

#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, on or off")]
pub(crate) struct Options {
    pub paths: Vec<PathBuf>,
    /// Length of a block in bytes, a power of two.
    pub block_size: u64,
    pub io: Io,
    /// I/Os in flight in each session; 0 only together with large reads.
    pub iodepth: u32,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC.
    pub sync: bool,
    /// Writes of a session after which it syncs the file; 0 for never.
    pub fsync: u32,
    /// Writes at the end of the file.
    pub append: bool,
    pub pattern: Pattern,
    pub streams: u32,
    pub span: Span,
    /// Whether all schemas count as one.
    pub whole: bool,
    pub(crate) combine: Combine,
    pub large: Option<Large>,
    pub look: BlockTouch,
    pub cpus: Option<Vec<usize>>,
    pub verify: bool,
    /// Reads during another run on the same files.
    pub shared: bool,
    /// Devices that may be written, as typed.
    pub destroy_data: Vec<String>,
}

impl Options {
    pub(crate) fn parse(url: &str, s: &Settings) -> Result<Self> {
        s.check_bounds(KEYS)?;
        let options = Self {
            paths: paths(url)?,
            block_size: s.require("block_size", io_size)?,
            io: s.require(FileOption::Io.name(), |t| {
                settings::parse_choice(t, &[("uring", Io::Uring), (ONE_AT_A_TIME, Io::Psync)])
            })?,
            iodepth: s.require(FileOption::Iodepth.name(), count)?,
            direct: s.require("direct", settings::parse_switch)?,
            sync: s.require("sync", settings::parse_switch)?,
            fsync: s.require(FileOption::SyncEvery.name(), count)?,
            append: s.require(FileOption::Append.name(), settings::parse_switch)?,
            pattern: s.require("pattern", pattern)?,
            streams: s.require("streams", count)?,
            span: s.require(FileOption::Span.name(), Span::parse)?,
            whole: s.require("whole", settings::parse_switch)?,
            combine: combine(s)?,
            large: large(s)?,
            look: s.require("look", BlockTouch::parse)?,
            cpus: s.parse("cpus", cpu_list)?,
            verify: s.require("verify", settings::parse_switch)?,
            shared: s.require("shared", settings::parse_switch)?,
            destroy_data: s.get("destroy_data").map_or_else(Vec::new, |t| t.split(',').map(str::to_owned).collect()),
        };
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<()> {
        if self.iodepth == 0 && self.large.is_none() {
            return Err(Error::plan("iodepth 0 reads nothing", "pass --iodepth 1 or more"));
        }
        if self.io == Io::Psync && (self.iodepth != 1 || self.large.is_some()) {
            return Err(Error::plan(
                "psync keeps one I/O in flight in each session",
                "omit --iodepth and --large-iodepth and pass more --sessions, or use --io uring",
            ));
        }
        if (self.fsync > 0 || self.append) && self.paths.len() > 1 {
            return Err(Error::plan("--fsync and --append write one file", "name one file, or omit them"));
        }
        if let Some(large) = self.large.filter(|large| large.size < self.block_size) {
            let (size, block) = (units::format_bytes(large.size), units::format_bytes(self.block_size));
            return Err(Error::plan(
                format!("a large read of {size} is smaller than a block of {block}"),
                "pass a larger --large-size, or a smaller --block-size",
            ));
        }
        if self.buffer_bytes() > MOST_BUFFER_BYTES {
            return Err(Error::plan(
                format!(
                    "iodepth {} needs {} of buffers in each session",
                    self.iodepth,
                    units::format_bytes(self.buffer_bytes())
                ),
                "pass a smaller --iodepth or --block-size, or more sessions; the limit is 1 GiB",
            ));
        }
        if let Combine::Stripe(stripe) = self.combine {
            let largest = self.large.map_or(self.block_size, |l| l.size.max(self.block_size));
            if stripe < largest {
                return Err(Error::plan(
                    format!(
                        "a stripe of {} cannot hold an I/O of {}",
                        units::format_bytes(stripe),
                        units::format_bytes(largest)
                    ),
                    "pass a larger --stripe-size",
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn buffer_bytes(&self) -> u64 {
        u64::from(self.iodepth) * self.block_size + self.large.map_or(0, |l| u64::from(l.iodepth) * l.size)
    }

    /// Whether a write that has completed is on storage, sooner or later.
    pub(crate) fn commits(&self) -> bool {
        self.sync || self.fsync > 0
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.iodepth + self.large.map_or(0, |l| l.iodepth)
    }
}

fn paths(url: &str) -> Result<Vec<PathBuf>> {
    let list = url.strip_prefix("raw:").unwrap_or(url);
    let paths: Vec<PathBuf> = list.split(',').filter(|p| !p.is_empty()).map(PathBuf::from).collect();
    if paths.is_empty() {
        return Err(Error::plan("raw: names no file", "write raw:PATH, or raw:PATH,PATH for several"));
    }
    for (i, path) in paths.iter().enumerate() {
        if paths[..i].contains(path) {
            return Err(Error::plan(format!("raw: names {} twice", path.display()), "name each file once"));
        }
    }
    Ok(paths)
}

fn io_size(text: &str) -> Result<u64> {
    let bytes = units::parse_bytes(text)?;
    if bytes.is_power_of_two() {
        return Ok(bytes);
    }
    Err(Error::plan(format!("{text} cannot be the length of an I/O"), "give a power of two, 512B to 64MiB"))
}

/// A count within the bound of its key.
fn count(text: &str) -> Result<u32> {
    units::parse_count(text).map(|count| count as u32)
}

fn pattern(text: &str) -> Result<Pattern> {
    settings::parse_choice(text, &[("random", Pattern::Random), ("sequential", Pattern::Sequential)])
}

fn combine(s: &Settings) -> Result<Combine> {
    let stripe = s.require("stripe_size", io_size)?;
    s.require("combine", |t| {
        settings::parse_choice(t, &[("concat", Combine::Concat), ("stripe", Combine::Stripe(stripe))])
    })
}

fn large(s: &Settings) -> Result<Option<Large>> {
    let depth = s.require(FileOption::LargeIodepth.name(), count)?;
    let size = s.require(FileOption::LargeSize.name(), io_size)?;
    let pattern = s.require("large_pattern", pattern)?;
    Ok((depth > 0).then_some(Large { iodepth: depth, size, pattern }))
}

fn cpu_list(text: &str) -> Result<Vec<usize>> {
    let bad = || Error::plan(format!("`{text}` is not a list of CPUs"), "write numbers and ranges, such as 0 or 0-3,6");
    let cpus: Vec<usize> = cpu::parse_list(text).into_iter().map(|cpu| cpu as usize).collect();
    if cpus.is_empty() || cpus.iter().any(|cpu| *cpu >= 1_024) { Err(bad()) } else { Ok(cpus) }
}
