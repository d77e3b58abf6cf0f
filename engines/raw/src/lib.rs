//! The I/O engine without a database: files and block devices, read and written through io_uring or pread.

use std::path::PathBuf;
use std::sync::Arc;

use mindful_core::contract::engine::{Capabilities, Engine, EngineFacts, EngineOptions};
use mindful_core::contract::event::Events;
use mindful_core::contract::file_read::{BlockTouch, FileOption, FileReads, InFlight, ONE_AT_A_TIME};
use mindful_core::contract::target::Target;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rendezvous::{self, Rendezvous};
use mindful_core::{Result, contract::error};

mod access_pattern;
pub(crate) mod block_touch;
mod buffer;
mod check;
mod codes;
mod content;
mod counters;
mod file;
mod file_header;
mod guard;
mod options;
mod prepared;
mod psync;
mod ring;
pub mod space;
mod target;
mod timer;
mod uring;
mod watch;

pub use options::{KEYS, MOST_IODEPTH};
pub use ring::require as require_io_uring;

pub static ENGINE: Raw = Raw;

#[derive(Debug, Clone, Copy)]
pub struct Raw;

impl Engine for Raw {
    fn facts(&self) -> EngineFacts {
        let summary = "files and block devices through io_uring or pread, with no database: raw:PATH[,PATH...]";
        let can = Capabilities { scans: false, commit_modes: false, ..Capabilities::CLIENT_LOOP };
        EngineFacts { options: KEYS, finding_codes: codes::ALL, ..EngineFacts::new("raw", &["raw"], summary, can) }
    }

    fn file_reads(&self) -> Option<&dyn FileReads> {
        Some(self)
    }

    fn redact(&self, url: &str) -> String {
        error::one_line(url)
    }

    fn parse_options(&self, url: &str, settings: &Settings) -> Result<Arc<dyn EngineOptions>> {
        Ok(Arc::new(options::Options::parse(url, settings)?))
    }
}

impl EngineOptions for options::Options {
    fn open(&self, _sessions: u32, events: &Arc<dyn Events>) -> Result<Box<dyn Target>> {
        Ok(Box::new(target::RawTarget::open(self.clone(), events)?))
    }

    fn open_rendezvous(&self, _events: &Arc<dyn Events>) -> Result<Option<Box<dyn Rendezvous>>> {
        Err(rendezvous::unsupported_engine_error("bare files"))
    }
}

impl FileReads for Raw {
    fn url(&self, files: &[PathBuf]) -> String {
        let paths: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
        format!("raw:{}", paths.join(","))
    }

    fn options(&self, touch: BlockTouch, cpu: Option<usize>) -> Vec<(&'static str, String)> {
        let reads = [(FileOption::Io.name(), ONE_AT_A_TIME), ("direct", "on"), ("look", touch.name())];
        let reads = reads.map(|(option, value)| (option, value.to_owned()));
        reads.into_iter().chain(cpu.map(|cpu| ("cpus", cpu.to_string()))).collect()
    }

    fn options_for_load(&self, load: InFlight) -> Vec<(&'static str, String)> {
        let depths = [(FileOption::Iodepth.name(), load.small), (FileOption::LargeIodepth.name(), load.large)];
        let depths = depths.map(|(option, depth)| (option, depth.to_string()));
        [(FileOption::Io.name(), "uring".to_owned())].into_iter().chain(depths).collect()
    }
}
