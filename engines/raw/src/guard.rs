//! Decides which files may be opened, and which may be written.
//!
//! Paths are resolved first and opened without following a link. Then every decision uses the open file, and the
//! writable descriptor is derived from its descriptor, so that nothing can be exchanged in between.

use std::fmt::Display;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use mindful_core::{Error, Result};
use mindful_host::{Kernel, device, mounts, named_path};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, StatxFlags, major, minor};

use crate::file_header::{DATA_START, FileHeader, HEADER_BYTES};
use crate::space::Extent;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC.
    pub sync: bool,
}

#[derive(Debug)]
pub(crate) struct Source {
    /// Its path with all links resolved.
    pub path: PathBuf,
    pub fd: OwnedFd,
    /// mindful's mark, if it created the file or filled the device.
    pub mark: Option<FileHeader>,
    pub(crate) data: Extent,
    /// Its device number, when it is a block device.
    pub device: Option<u64>,
}

/// The error of an operation on the file at `path`.
pub(crate) fn cannot(verb: &str, path: &Path, error: impl Display, next: &str) -> Error {
    Error::target(format!("cannot {verb} {}: {error}", path.display()), next)
}

impl Source {
    /// Opens `path` for reading, through the page cache.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let resolved = named_path::folder(path)
            .and_then(fs::canonicalize)
            .map_err(|e| cannot("find", path, e, "check the path"))?;
        // A pipe would block the open, a device might react to it: neither with O_NONBLOCK.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = open_untraced(&resolved, flags)
            .map_err(|e| cannot("open", &resolved, e, "check its owner and permissions"))?;
        let stat = rustix::fs::fstat(&fd).map_err(|e| cannot("examine", &resolved, e, "check the file system"))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Self::examined(resolved, fd, stat.st_ino, stat.st_size.unsigned_abs())),
            FileType::BlockDevice => {
                let bytes = rustix::fs::seek(&fd, rustix::fs::SeekFrom::End(0))
                    .map_err(|e| cannot("measure", &resolved, e, "check that the device is there"))?;
                Ok(Self { device: Some(stat.st_rdev), ..Self::examined(resolved, fd, stat.st_rdev, bytes) })
            }
            other => Err(Error::target(
                format!("{} is neither a file nor a block device but {other:?}", resolved.display()),
                "name a file or a block device",
            )),
        }
    }

    /// With the mark it carries, if that names `inode`.
    fn examined(path: PathBuf, fd: OwnedFd, inode: u64, bytes: u64) -> Self {
        let mut header = [0; HEADER_BYTES];
        let read = rustix::io::pread(&fd, &mut header, 0).unwrap_or(0);
        let mark = FileHeader::decode(&header[..read]).filter(|mark| mark.inode == inode);
        let data = match mark {
            Some(mark) => Extent { start: DATA_START, bytes: mark.data_bytes.min(bytes.saturating_sub(DATA_START)) },
            None => Extent { start: 0, bytes },
        };
        Self { path, fd, mark, data, device: None }
    }

    pub(crate) fn reader(&self, access: Access) -> Result<OwnedFd> {
        self.check_direct(access)?;
        self.reopen(OFlags::RDONLY, access)
    }

    /// Descriptor for reading and writing: of a file that mindful made, or of a device named in `destroy_data` that
    /// nothing else uses.
    pub(crate) fn writer(&self, access: Access, destroy_data: &[String]) -> Result<OwnedFd> {
        self.check_direct(access)?;
        let Some(device) = self.device else {
            return match self.mark {
                Some(_) => self.reopen(OFlags::RDWR, access),
                None => Err(Error::target(
                    format!("{} was not made by mindful and is never written", self.path.display()),
                    "name a file that does not exist yet and mindful makes it, or read only with --update-pct 0",
                )),
            };
        };
        self.check_named(destroy_data)?;
        check_unused(&self.path, (major(device), minor(device)), &self.fd)?;
        // O_EXCL claims the device: the kernel refuses while it is mounted, swapped on or held, and refuses mounts later.
        self.reopen(OFlags::RDWR | OFlags::EXCL, access)
    }

    /// A further descriptor for writing besides `_claim`, which [`Source::writer`] gave: a device is claimed once.
    pub(crate) fn beside(&self, _claim: &OwnedFd, access: Access) -> Result<OwnedFd> {
        self.check_direct(access)?;
        self.reopen(OFlags::RDWR, access)
    }

    fn check_named(&self, destroy_data: &[String]) -> Result<()> {
        let path = self.path.to_string_lossy();
        let short = self.path.file_name().map(|name| name.to_string_lossy());
        if destroy_data.iter().any(|typed| *typed == path || short.as_deref() == Some(typed)) {
            return Ok(());
        }
        Err(Error::target(
            format!("{path} is a device, and writing destroys its data"),
            format!("if that is meant, pass --destroy-data {path}"),
        ))
    }

    fn check_direct(&self, access: Access) -> Result<()> {
        if !access.direct {
            return Ok(());
        }
        let next = "pass --direct off; then the page cache serves reads, too";
        if self.device.is_none() && lives_in_memory(&self.fd) {
            let what = format!("{} lies in a file system in memory, which has no direct I/O", self.path.display());
            return Err(Error::target(what, next));
        }
        match dio_alignment(&self.fd) {
            Some(0) => {
                Err(Error::target(format!("{} has no direct I/O on its file system", self.path.display()), next))
            }
            _ => Ok(()),
        }
    }

    /// The same open file again, with other flags.
    fn reopen(&self, mode: OFlags, access: Access) -> Result<OwnedFd> {
        let mut flags = mode | OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, access.direct);
        flags.set(OFlags::DSYNC, access.sync);
        let next = match mode.contains(OFlags::EXCL) {
            true => "it is mounted or in use: release it first, or read only with --update-pct 0",
            false if access.direct => {
                "check its permissions; where the file system has no direct I/O, pass --direct off"
            }
            false => "check its owner and permissions",
        };
        let own = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        open_untraced(Path::new(&own), flags).map_err(|e| cannot("open", &self.path, e, next))
    }

    /// Refuses I/Os of `bytes` that direct I/O cannot make here.
    pub(crate) fn check_io_size(&self, bytes: u64, access: Access) -> Result<()> {
        match dio_alignment(&self.fd) {
            Some(align) if access.direct && align > 0 && !bytes.is_multiple_of(align) => Err(Error::plan(
                format!("{} takes direct I/O in multiples of {align} bytes, not {bytes}", self.path.display()),
                format!("pass --block-size {align}B or a multiple, or --direct off"),
            )),
            _ => Ok(()),
        }
    }
}

/// Opens `path` without updating its access time, if that is allowed: only the owner may.
fn open_untraced(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    match rustix::fs::open(path, flags | OFlags::NOATIME, Mode::empty()) {
        Err(rustix::io::Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    }
}

/// Alignment of offsets for direct I/O in bytes, 0 for no direct I/O; `None` if the kernel does not report it.
fn dio_alignment(fd: &OwnedFd) -> Option<u64> {
    let statx = rustix::fs::statx(fd.as_fd(), "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::DIOALIGN);
    known.then_some(u64::from(statx.stx_dio_offset_align))
}

/// Whether the file's data is in memory only (tmpfs, ramfs): O_DIRECT may open there but means nothing.
fn lives_in_memory(fd: &OwnedFd) -> bool {
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    rustix::fs::fstatfs(fd).is_ok_and(|fs| [TMPFS, RAMFS].contains(&(fs.f_type as u64 & 0xffff_ffff)))
}

/// Refuses a device that is mounted, part of another one, or carries a partition table.
fn check_unused(path: &Path, number: (u32, u32), fd: &OwnedFd) -> Result<()> {
    let refuse = |what: &str, next| Err(Error::target(format!("{} {what} and is never written", path.display()), next));
    if let Some(mount) = mounts::read(&Kernel::default()).into_iter().find(|mount| mount.device == number) {
        let what = format!("is mounted on {}", mount.point.display());
        return refuse(&what, "unmount it first, or read only with --update-pct 0");
    }
    let Some(sys) = device::folder(&Kernel::default(), number) else {
        let what = "is not in sysfs, so whether it is used is unknown,";
        return refuse(what, "show it: in a container mount /sys whole");
    };
    let is_partition = |entry: fs::DirEntry| entry.path().join("partition").is_file();
    if fs::read_dir(&sys).is_ok_and(|entries| entries.flatten().any(is_partition)) || holds_partition_table(fd) {
        return refuse("is partitioned", "name a free partition, or remove the partition table with wipefs");
    }
    if fs::read_dir(sys.join("holders")).is_ok_and(|mut holders| holders.next().is_some()) {
        return refuse("is part of another device", "take it out of that device first");
    }
    Ok(())
}

/// Whether it begins as a disk with a partition table does: a boot signature, or a GPT header in the second sector.
fn holds_partition_table(fd: &OwnedFd) -> bool {
    let mut start = [0; 8_192];
    let read = rustix::io::pread(fd, &mut start, 0).unwrap_or(0);
    let start = &start[..read];
    let gpt = |sector: usize| start.get(sector..sector + 8) == Some(b"EFI PART");
    start.get(510..512) == Some(&[0x55, 0xaa]) || gpt(512) || gpt(4_096)
}
