//! Everything the sessions of a step share, decided and opened before they begin.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mindful_core::contract::description::AccessPath;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::slice::Placement;
use mindful_core::plan::units;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::Workload;

use crate::access_pattern::{AccessPattern, Layout};
use crate::append::Appended;
use crate::codes;
use crate::counters::Counters;
use crate::options::{Io, Options};
use crate::ring;
use crate::space::{Place, Space};

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
            Some(appended) => Place { offset: appended.take(self.options.block_size), ..place },
            None => place,
        }
    }

    pub(crate) fn generation(&self, session: u32, index: u64) -> u64 {
        self.writing ^ (u64::from(session + 1) << 40 | (index + 1))
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
