//! Everything the sessions of a step share, decided and opened before they begin.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mindful_core::contract::description::AccessPath;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::Placement;
use mindful_core::plan::units;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use rustix::fs::ftruncate;
use rustix::io::Errno;

use crate::access_pattern::{AccessPattern, Layout};
use crate::counters::Counters;
use crate::options::{Io, Options};
use crate::space::{Place, Space};
use crate::{codes, content, ring};

pub(crate) struct Prepared {
    pub options: Options,
    /// The actual way of reading: as requested, or psync if io_uring is not permitted.
    pub io: Io,
    pub files: Arc<[OwnedFd]>,
    pub paths: Vec<PathBuf>,
    /// Names of their sectors; `None` for a file that is not mindful's own.
    pub keys: Vec<Option<u64>>,
    /// Drawn for each step, so that no block is ever written twice with the same content.
    pub writing: u64,
    pub seed: u64,
    /// Key to block.
    pub layout: Arc<Layout>,
    /// Block to place.
    pub(crate) blocks: Arc<Space>,
    /// Large read to place.
    pub(crate) large: Option<Arc<Space>>,
    pub large_blocks: u64,
    /// The end of the file, where writes are appended.
    pub appended: Option<Appended>,
    pub counters: Arc<Counters>,
    pub events: Arc<dyn Events>,
    /// Whether the note about unregistered buffers has been emitted.
    pub reported_unregistered: AtomicBool,
}

impl Prepared {
    pub(crate) fn pattern(&self, workload: &Workload, placement: Placement) -> AccessPattern {
        let (layout, blocks) = (self.layout.clone(), self.blocks.clone());
        AccessPattern::new(workload, placement, layout, blocks, self.options.pattern, self.options.streams)
    }

    /// The target of a write to `place`.
    pub(crate) fn place_write(&self, place: Place) -> Place {
        match &self.appended {
            Some(appended) => {
                Place { offset: appended.end.fetch_add(self.options.block_size, Ordering::Relaxed), ..place }
            }
            None => place,
        }
    }

    /// The error of an I/O of `bytes` that gave `result`: fewer bytes, or a negated error number.
    #[cold]
    pub(crate) fn io_error(&self, place: Place, write: bool, bytes: u64, result: i32) -> Error {
        let path = self.paths[place.file as usize].display();
        let (verb, at) = (if write { "write" } else { "read" }, place.offset);
        if result >= 0 {
            let end = at + u64::from(result.unsigned_abs());
            return Error::run(
                format!("{path} ends at byte {end}: {verb} of {bytes} bytes at {at} moved {result}"),
                "it was truncated while in use; make it again and run again",
            );
        }
        let errno = Errno::from_raw_os_error(-result);
        let next = match errno {
            Errno::IO | Errno::NODEV | Errno::NXIO => "the device failed or is gone: see the kernel log",
            Errno::NOSPC => "the file system is full: free some space, or pass a smaller --scale",
            Errno::INVAL => "the file system refuses such an I/O: try a larger --block-size, or --direct off",
            Errno::OPNOTSUPP => "the file system does not support this I/O: try --direct off, or --io psync",
            Errno::PERM | Errno::ROFS => "the file or its file system is read only: run with --update-pct 0",
            _ => "see the kernel log",
        };
        Error::run(format!("{verb} of {bytes} bytes at {at} of {path} failed: {errno}"), next)
    }

    /// The error of a sync after a write to `place`.
    #[cold]
    pub(crate) fn sync_error(&self, place: Place, errno: Errno) -> Error {
        let path = self.paths[place.file as usize].display();
        Error::run(format!("fdatasync of {path} failed: {errno}"), "the device failed or is full: see the kernel log")
    }

    /// With `verify`, checks that `block`, read from `place`, is the one that belongs there.
    #[inline]
    pub(crate) fn check_content(&self, place: Place, block: &[u8]) -> Result<()> {
        let key = self.content_key(place);
        match self.options.verify.then(|| content::first_mismatch(block, key, place.offset)).flatten() {
            None => Ok(()),
            Some(at) => Err(Error::run(
                format!("{} holds wrong data in the sector at byte {at}", self.paths[place.file as usize].display()),
                "storage returned data that was not written there: do not trust it",
            )),
        }
    }

    /// Fills `block`, for a write of operation `index` of `session` to `place`.
    pub(crate) fn fill(&self, block: &mut [u8], place: Place, session: u32, index: u64) {
        let generation = self.writing ^ (u64::from(session + 1) << 40 | (index + 1));
        content::fill(block, self.content_key(place), place.offset, generation);
    }

    fn content_key(&self, place: Place) -> u64 {
        self.keys[place.file as usize].unwrap_or_default()
    }

    /// Reports, once, that the buffers could not be registered.
    pub(crate) fn tell_unregistered(&self) {
        if self.reported_unregistered.swap(true, Ordering::Relaxed) {
            return;
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
        self.events.emit(Event::Finding(codes::BUFFERS_NOT_REGISTERED.finding(
            "The limit of locked memory is too small to register the I/O buffers, so each I/O takes more CPU. Raise \
             `ulimit -l`, or use a smaller iodepth.",
            format!(
                "limit {} bytes, buffers {} bytes a session",
                limit.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string()),
                self.options.buffer_bytes()
            ),
        )));
    }

    /// The reads and writes of a workload. Each block is requested separately, as the method requires, with and without
    /// the page cache.
    pub(crate) fn shapes(&self, workload: &Workload) -> Vec<AccessPath> {
        let options = &self.options;
        let cache = if options.direct { "direct" } else { "through the page cache" };
        let shape = |kind: &str, verb: &str, bytes: u64, in_flight: u32| {
            let how = match self.io {
                Io::Uring => format!("io_uring, iodepth {in_flight}"),
                Io::Psync => "one at a time".to_owned(),
            };
            AccessPath::new(kind, format!("{verb} of {}, {cache}, {how}", units::format_bytes(bytes)), true, "")
        };
        let mut shapes = Vec::new();
        if options.iodepth > 0 {
            shapes.push(shape("select", "read", options.block_size, options.iodepth));
            if !workload.update_pct.is_none() {
                let synced = match options.fsync {
                    0 => "write".to_owned(),
                    1 => "write and fdatasync".to_owned(),
                    every => format!("write, fdatasync after every {every},"),
                };
                shapes.push(shape("update", &synced, options.block_size, options.iodepth));
            }
        }
        shapes.extend(options.large.map(|large| shape("scan", "large read", large.size, large.iodepth)));
        shapes
    }
}

pub(crate) fn no_io_uring(reason: &std::io::Error, iodepth: u32) -> Finding {
    let (severity, effect) = match iodepth {
        1 => (Severity::Info, "blocks are read by pread instead, which changes little at iodepth 1"),
        _ => (
            Severity::Warning,
            "blocks are read by pread instead, one at a time in each session, not at the requested iodepth",
        ),
    };
    let leave = ring::leave(reason);
    Finding::new(
        codes::NO_IO_URING,
        severity,
        format!("This process cannot use io_uring: {effect}; {leave}, or use --io psync and more sessions."),
        format!("io_uring_setup: {reason}"),
    )
}

/// The end of a growing file, as a log has that is not written beforehand. Appended data is cut off on drop.
#[derive(Debug)]
pub(crate) struct Appended {
    file: OwnedFd,
    begin: u64,
    end: AtomicU64,
}

impl Appended {
    /// Appends to `file` from byte `begin` on; data of an earlier run there is cut off.
    pub(crate) fn begin(file: OwnedFd, begin: u64) -> rustix::io::Result<Self> {
        ftruncate(&file, begin)?;
        Ok(Self { file, begin, end: AtomicU64::new(begin) })
    }
}

impl Drop for Appended {
    fn drop(&mut self) {
        // Remaining data is cut off by the next run.
        let _ = ftruncate(&self.file, self.begin);
    }
}
