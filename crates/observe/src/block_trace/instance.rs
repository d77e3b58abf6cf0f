//! A trace instance of our own: buffers and switches that nobody else's tracing shares.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mindful_host::Kernel;
use mindful_host::mounts;

/// Instances of ours begin with it; the process id follows.
const NAME: &str = "mindful-";
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];
/// Buffer of each CPU: a twentieth of a second of 100,000 events a second.
const BUFFER_KIB: &str = "512";

/// Tells the instances of one process apart.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// An instance; removed when dropped.
#[derive(Debug)]
pub(super) struct Instance {
    folder: PathBuf,
    /// Closed before the folder is removed, for an open one keeps it.
    pipe: Option<File>,
}

impl Instance {
    /// Makes an instance that keeps the requests that `filter` lets through. Those that dead processes left are
    /// removed first.
    ///
    /// # Errors
    /// Why this kernel does not offer it, or to whom.
    pub(super) fn open(kernel: &Kernel, filter: &str) -> Result<Self, String> {
        let tracefs =
            mounts::read(kernel).into_iter().find(|mount| mount.fs_type == "tracefs").map(|mount| mount.point);
        let tracefs = tracefs.ok_or("tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)")?;
        let all = tracefs.join("instances");
        remove_stale(kernel, &all);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = all.join(format!("{NAME}{}-{number}", std::process::id()));
        let refused = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied => format!("{} may not be used: run mindful as root to see it", all.display()),
            _ => format!("{}: {error}", folder.display()),
        };
        fs::create_dir(&folder).map_err(refused)?;
        let mut instance = Self { folder: folder.clone(), pipe: None };
        instance.set_up(filter).map_err(refused)?;
        Ok(instance)
    }

    fn set_up(&mut self, filter: &str) -> io::Result<()> {
        fs::write(self.folder.join("buffer_size_kb"), BUFFER_KIB)?;
        fs::write(self.folder.join("trace_clock"), "mono")?;
        self.filter(filter)?;
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        self.pipe = Some(File::options().read(true).custom_flags(nonblocking).open(self.folder.join("trace_pipe"))?);
        for event in EVENTS {
            fs::write(self.folder.join("events/block").join(event).join("enable"), "1")?;
        }
        Ok(())
    }

    /// Keeps what `expression` lets through from now on.
    pub(super) fn filter(&self, expression: &str) -> io::Result<()> {
        let file = |event: &str| self.folder.join("events/block").join(event).join("filter");
        EVENTS.iter().try_for_each(|event| fs::write(file(event), expression))
    }

    /// The next piece of what was traced; `None` when there is no more at present.
    pub(super) fn read<'a>(&self, buffer: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
        let Some(mut pipe) = self.pipe.as_ref() else { return Ok(None) };
        match pipe.read(buffer) {
            Ok(0) => Ok(None),
            Ok(length) => Ok(Some(&buffer[..length])),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.pipe = None;
        // What cannot be removed now is stale at the next start.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes what processes left that are no more. One whose pipe is still open refuses.
fn remove_stale(kernel: &Kernel, instances: &Path) {
    let Ok(entries) = fs::read_dir(instances) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(NAME)).and_then(|rest| rest.split('-').next());
        if pid.is_some_and(|pid| pid.parse::<u32>().is_ok() && !kernel.proc.join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}
