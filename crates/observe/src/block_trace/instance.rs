//! A separate trace instance: its buffers and switches are not shared with other tracing.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mindful_host::process::Stat;
use mindful_host::{Kernel, mounts};

use super::journal::{EVENT, Journals};

/// Instances of ours begin with it; the process id, when that process was started, and a number follow.
const NAME: &str = "mindful-";
const EVENTS: [&str; 2] = ["block_rq_issue", "block_rq_complete"];
/// Buffer of each CPU: a twentieth of a second of 100,000 events a second.
const BUFFER_KIB: &str = "512";

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// An instance; removed when dropped.
pub(super) struct Instance {
    folder: PathBuf,
    /// Closed before the folder is removed, for an open one keeps it.
    pipe: Option<File>,
    /// Whether transactions of journals are reported, too.
    pub(super) follows_journals: bool,
}

impl Instance {
    /// Makes an instance that keeps the requests that `filter` lets through, and the transactions of `journals` where the
    /// kernel reports them. Instances that dead processes left are removed first.
    ///
    /// # Errors
    /// Why this kernel does not offer it, or to which users it does.
    pub(super) fn open(kernel: &Kernel, filter: &str, journals: Option<&Journals>) -> Result<Self, String> {
        let tracefs =
            mounts::read(kernel).into_iter().find(|mount| mount.fs_type == "tracefs").map(|mount| mount.point);
        let tracefs = tracefs.ok_or("tracefs is not mounted (mount -t tracefs nodev /sys/kernel/tracing)")?;
        let all = tracefs.join("instances");
        remove_stale(kernel, &all);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let own = std::process::id();
        let started = Stat::read(kernel, own).map_err(|error| format!("/proc/{own}/stat: {error}"))?.started;
        let folder = all.join(format!("{NAME}{own}-{started}-{number}"));
        let refused = |error: io::Error| match error.kind() {
            ErrorKind::PermissionDenied => format!("{} is not accessible: run mindful as root", all.display()),
            _ => format!("{}: {error}", folder.display()),
        };
        fs::create_dir(&folder).map_err(refused)?;
        let mut instance = Self { folder: folder.clone(), pipe: None, follows_journals: false };
        instance.set_up(filter).map_err(refused)?;
        instance.follows_journals = journals.is_some_and(|journals| instance.follow(journals).is_ok());
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

    fn follow(&self, journals: &Journals) -> io::Result<()> {
        let event = self.folder.join("events").join(EVENT);
        fs::write(event.join("filter"), journals.filter())?;
        fs::write(event.join("enable"), "1")
    }

    /// Keeps only events that match `expression` from now on.
    pub(super) fn filter(&self, expression: &str) -> io::Result<()> {
        let file = |event: &str| self.folder.join("events/block").join(event).join("filter");
        EVENTS.iter().try_for_each(|event| fs::write(file(event), expression))
    }

    /// The next piece of the trace; `None` if there is no more at present.
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
        // The next start removes it as stale.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes instances of ended processes. The kernel refuses to remove one with an open pipe.
fn remove_stale(kernel: &Kernel, instances: &Path) {
    let Ok(entries) = fs::read_dir(instances) else { return };
    for entry in entries.flatten() {
        let owner = entry.file_name().to_str().and_then(owner);
        let lives = |(pid, started)| Stat::read(kernel, pid).is_ok_and(|stat| stat.started == started && !stat.ended);
        if owner.is_some_and(|owner| !lives(owner)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Process id and start of the process that created the instance `name`; `None` for foreign instances.
fn owner(name: &str) -> Option<(u32, u64)> {
    let mut parts = name.strip_prefix(NAME)?.split('-');
    let owner = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let _number: u32 = parts.next()?.parse().ok()?;
    parts.next().is_none().then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remains_of_a_dead_process_go_even_if_its_id_is_reused() {
        let (kernel, instances) = (Kernel::default(), tempfile::tempdir().unwrap());
        let own = std::process::id();
        let started = Stat::read(&kernel, own).unwrap().started;
        let living = format!("{NAME}{own}-{started}-0");
        let others = ["mindful", "mindful-x-1-0", "mindful-4294967295", "mindful-1-2-3-4", "other-4294967295-1-0"];
        let dead = [format!("{NAME}{own}-{}-0", started + 1), format!("{NAME}4294967295-7-3")];
        let all = dead.iter().map(String::as_str).chain([living.as_str()]).chain(others);
        all.for_each(|name| fs::create_dir(instances.path().join(name)).unwrap());
        remove_stale(&kernel, instances.path());
        assert!(dead.iter().all(|name| !instances.path().join(name).exists()));
        assert!(others.iter().chain([&living.as_str()]).all(|name| instances.path().join(name).exists()));
    }
}
