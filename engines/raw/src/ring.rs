//! One io_uring with its buffer and files registered, and a slot of the buffer for each I/O in flight.
//!
//! Registration saves the kernel two look-ups for each I/O. Unsupported features are omitted one by one, so the same
//! code runs from Linux 5.11 on. Submissions and completions are processed in batches. If completions run on demand,
//! the ring polls for them rarely when recent polls found none.

#![expect(unsafe_code, reason = "io_uring hands addresses of the buffer to the kernel; see each SAFETY note")]

mod reap_backoff;
mod registered_ring;

use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use io_uring::{IoUring, opcode, squeue, types};
use mindful_host::kernel_file;
use rustix::io::Errno;
use rustix::io_uring::IoringEnterFlags;

use self::reap_backoff::ReapBackoff;
use self::registered_ring::RegisteredRing;
use crate::buffer::{self, Buffer};

/// Most I/Os taken from the kernel at a time, and so most submitted at a time. That is enough to share the cost of a
/// call, and few enough that the device does not idle while a deep queue is processed.
const BATCH: usize = 4;

/// Number of entries in one call from which the kernel plugs and submits them to the device together.
const PLUGGED: u32 = 3;

/// Mark of an entry without an operation: no slot has this number.
const EMPTY: u64 = u64::MAX;

/// Features of newer kernels. The ring works without each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offers {
    /// Completions run when the submitting thread polls for them (6.1).
    deferred: bool,
    /// Entries may succeed without a completion (5.17).
    silent: bool,
    /// A ring has a number (5.18).
    numbers: bool,
}

impl Offers {
    const ALL: Self = Self { deferred: true, silent: true, numbers: true };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    pub slot: u32,
    /// Bytes moved, or the negated error number.
    pub result: i32,
}

/// A ring, made and used on one thread.
pub(crate) struct Ring {
    uring: IoUring,
    buffer: ManuallyDrop<Buffer>,
    /// Begin and length of each slot, and whether the kernel is using it.
    slots: Vec<(usize, u32, bool)>,
    files: Arc<[OwnedFd]>,
    buffers_registered: bool,
    files_registered: bool,
    in_flight: u32,
    queued: u32,
    number: Option<RegisteredRing>,
    /// Number of queued I/Os at which an entry without an operation is added. `None` if that would leave a completion,
    /// or without a device.
    filled_up_at: Option<u32>,
    /// Whether I/Os may well have ended when the call returns that submits them, the page cache serving them.
    at_once: bool,
    reap_backoff: ReapBackoff,
}

impl Ring {
    /// A ring over `files` with one slot for each of `slots` lengths, one of the rings of `sessions`; `at_once` if I/Os
    /// may complete during submission.
    pub(crate) fn new(files: Arc<[OwnedFd]>, slots: &[u64], sessions: u32, at_once: bool) -> io::Result<Self> {
        Self::with(files, slots, sessions, at_once, Offers::ALL)
    }

    /// Like `new`, with only those features of this kernel that are in `offers`.
    fn with(files: Arc<[OwnedFd]>, slots: &[u64], sessions: u32, at_once: bool, offers: Offers) -> io::Result<Self> {
        let entries = (slots.len() as u32).max(PLUGGED).next_power_of_two();
        let ring = build(entries, offers.deferred)?;
        let mut next = 0;
        let slots: Vec<_> = slots
            .iter()
            .map(|bytes| {
                let start = next;
                next += *bytes as usize;
                (start, *bytes as u32, false)
            })
            .collect();
        let fds: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let files_registered = ring.submitter().register_files(&fds).is_ok();
        let (buffer, buffers_registered) = registered(&ring, next, buffer::huge_pages_fit(next, sessions))?;
        let silent = offers.silent && ring.params().is_feature_skip_cqe_on_success();
        let number = if offers.numbers { RegisteredRing::register(&ring) } else { None };
        Ok(Self {
            filled_up_at: (silent && !at_once).then_some(PLUGGED - 1),
            uring: ring,
            buffer,
            slots,
            files,
            buffers_registered,
            files_registered,
            in_flight: 0,
            queued: 0,
            number,
            at_once,
            reap_backoff: ReapBackoff::default(),
        })
    }

    /// Whether the buffers are registered; they are not where the limit of locked memory is too small.
    pub(crate) fn buffers_registered(&self) -> bool {
        self.buffers_registered
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// The bytes of a slot that is not in flight.
    pub(crate) fn block(&self, slot: u32) -> &[u8] {
        let (start, bytes, busy) = self.slots[slot as usize];
        assert!(!busy, "slot {slot} is with the kernel");
        // SAFETY: a slot that is not busy belongs to this ring, and slots do not overlap.
        unsafe { self.buffer.part(start, bytes as usize) }
    }

    pub(crate) fn block_mut(&mut self, slot: u32) -> &mut [u8] {
        let (start, bytes, busy) = self.slots[slot as usize];
        assert!(!busy, "slot {slot} is with the kernel");
        // SAFETY: as above, and borrowed only through `self`.
        unsafe { self.buffer.part_mut(start, bytes as usize) }
    }

    /// Queues a read into `slot` from byte `offset` of file number `file`.
    #[inline]
    pub(crate) fn read(&mut self, slot: u32, file: u32, offset: u64) {
        let (fd, (address, bytes)) = (self.fd(file), self.take(slot));
        let entry = if self.buffers_registered {
            opcode::ReadFixed::new(fd, address, bytes, 0).offset(offset).build()
        } else {
            opcode::Read::new(fd, address, bytes).offset(offset).build()
        };
        self.push(slot, entry);
    }

    /// Queues a write of `slot` to byte `offset` of file number `file`.
    #[inline]
    pub(crate) fn write(&mut self, slot: u32, file: u32, offset: u64) {
        let (fd, (address, bytes)) = (self.fd(file), self.take(slot));
        let address = address.cast_const();
        let entry = if self.buffers_registered {
            opcode::WriteFixed::new(fd, address, bytes, 0).offset(offset).build()
        } else {
            opcode::Write::new(fd, address, bytes).offset(offset).build()
        };
        self.push(slot, entry);
    }

    /// Queues an fdatasync of file number `file` in the place of the write in `slot` that it follows.
    #[inline]
    pub(crate) fn sync(&mut self, slot: u32, file: u32) {
        self.take(slot);
        let entry = opcode::Fsync::new(self.fd(file)).flags(types::FsyncFlags::DATASYNC).build();
        self.push(slot, entry);
    }

    /// The reference of an entry to file number `file`: its number if files are registered, else its descriptor.
    fn fd(&self, file: u32) -> types::Fd {
        types::Fd(if self.files_registered { file as i32 } else { self.files[file as usize].as_raw_fd() })
    }

    #[inline]
    fn take(&mut self, slot: u32) -> (*mut u8, u32) {
        let (start, bytes, busy) = &mut self.slots[slot as usize];
        assert!(!*busy, "slot {slot} is with the kernel");
        *busy = true;
        (self.buffer.as_ptr().wrapping_add(*start), *bytes)
    }

    #[inline]
    fn push(&mut self, slot: u32, entry: squeue::Entry) {
        let kind = if self.files_registered { squeue::Flags::FIXED_FILE } else { squeue::Flags::empty() };
        let entry = entry.flags(kind).user_data(u64::from(slot));
        // SAFETY: the address lies within the buffer. Its bytes are not touched while the slot is marked busy, and it
        // is not unmapped before `drop` has awaited every I/O.
        let pushed = unsafe { self.uring.submission().push(&entry) };
        assert!(pushed.is_ok(), "the queue has an entry for each slot");
        self.in_flight += 1;
        self.queued += 1;
    }

    /// Submits the queued entries and waits until one I/O has completed, or `timeout` is over.
    #[inline]
    pub(crate) fn submit_and_wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        if self.filled_up_at == Some(self.queued) {
            self.push_empty();
        }
        loop {
            let result = match (timeout, &self.number) {
                (None, Some(_)) => self.submit_by_number(),
                (None, None) => self.uring.submit_and_wait(1),
                (Some(limit), _) => {
                    let limit = types::Timespec::from(limit);
                    self.uring.submitter().submit_with_args(1, &types::SubmitArgs::new().timespec(&limit))
                }
            };
            match result.map_err(|e| Errno::from_io_error(&e).ok_or(e)) {
                Ok(submitted) => {
                    self.queued -= submitted as u32;
                    return Ok(());
                }
                Err(Ok(Errno::TIME | Errno::BUSY | Errno::AGAIN)) => return Ok(()),
                Err(Ok(Errno::INTR)) => {}
                Err(Ok(errno)) => return Err(errno.into()),
                Err(Err(error)) => return Err(error),
            }
        }
    }

    /// Two I/Os and an entry that does nothing reach the device together: it is reported once. A kernel that cannot keep
    /// silent about such an entry would wake this thread for it.
    fn push_empty(&mut self) {
        let empty = empty().flags(squeue::Flags::SKIP_SUCCESS);
        // SAFETY: it refers to no memory.
        let pushed = unsafe { self.uring.submission().push(&empty) };
        self.queued += u32::from(pushed.is_ok());
    }

    /// Submits and waits; returns the number of further submissions. A wait makes the kernel poll the device for
    /// completions, which is useless if the page cache has already served the I/O.
    #[inline]
    fn submit_by_number(&mut self) -> io::Result<usize> {
        if self.at_once && self.queued > 0 {
            self.queued -= self.enter(self.queued, 0, IoringEnterFlags::empty())?;
            if !self.uring.completion().is_empty() {
                return Ok(0);
            }
        }
        self.enter(self.queued, 1, IoringEnterFlags::GETEVENTS).map(|submitted| submitted as usize)
    }

    #[inline]
    fn enter(&self, queued: u32, wanted: u32, flags: IoringEnterFlags) -> io::Result<u32> {
        let Some(number) = &self.number else { return Err(Errno::BADF.into()) };
        // SAFETY: the entries were pushed with buffers that stay until they complete.
        unsafe { number.enter(queued, wanted, flags) }
    }

    /// Has the kernel hand out all that is back, where one is and others are likely to be.
    #[inline]
    fn ask_for_more(&mut self) {
        if self.in_flight < 2 || self.uring.completion().len() != 1 || !self.reap_backoff.is_due() {
            return;
        }
        // An error that is missed now occurs in the next wait.
        let _ = self.enter(0, 0, IoringEnterFlags::GETEVENTS);
        self.reap_backoff.learn(self.uring.completion().len() > 1);
    }

    /// Moves up to [`BATCH`] finished I/Os to `done`, which it empties first.
    #[inline]
    pub(crate) fn reap(&mut self, done: &mut Vec<Done>) {
        done.clear();
        self.ask_for_more();
        for completion in self.uring.completion().take(BATCH).filter(|one| one.user_data() != EMPTY) {
            let slot = completion.user_data() as u32;
            self.slots[slot as usize].2 = false;
            done.push(Done { slot, result: completion.result() });
        }
        self.in_flight -= done.len() as u32;
    }
}

fn empty() -> squeue::Entry {
    opcode::Nop::new().build().user_data(EMPTY)
}

/// A buffer of `bytes`, and whether it could be registered with `ring`.
fn registered(ring: &IoUring, bytes: usize, huge: bool) -> io::Result<(ManuallyDrop<Buffer>, bool)> {
    let buffer = ManuallyDrop::new(if huge { Buffer::on_huge_pages(bytes)? } else { Buffer::new(bytes)? });
    let whole = libc::iovec { iov_base: buffer.as_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: the range is mapped, and remains so until the ring's `drop` has awaited every I/O.
    match unsafe { ring.submitter().register_buffers(&[whole]) } {
        Ok(()) => Ok((buffer, true)),
        Err(_) if huge => {
            drop(ManuallyDrop::into_inner(buffer));
            registered(ring, bytes, false)
        }
        Err(_) => Ok((buffer, false)),
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // The kernel may still move bytes to and from the buffer.
        let mut done = Vec::with_capacity(self.in_flight as usize);
        while self.in_flight > 0 {
            if self.submit_and_wait(None).is_err() {
                break;
            }
            self.reap(&mut done);
        }
        if let Some(number) = &self.number {
            number.unregister(&self.uring);
        }
        if self.files_registered && self.in_flight == 0 {
            // The kernel takes a ring apart a little later, and until then an idle device would be held.
            let _ = self.uring.submitter().unregister_files();
        }
        if self.in_flight == 0 {
            // SAFETY: dropped once, here, and not used afterwards; with an I/O still under way it is leaked instead.
            unsafe { ManuallyDrop::drop(&mut self.buffer) };
        }
    }
}

/// The cheapest ring that this kernel supports: one thread submits, and completions run when that thread polls for them
/// (6.1); without a second index array (6.6).
fn build(entries: u32, deferred: bool) -> io::Result<IoUring> {
    let lean = |no_array: bool| {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().dontfork();
        if no_array {
            builder.setup_no_sqarray();
        }
        builder.build(entries)
    };
    let plain = || IoUring::new(entries);
    let ring = if deferred { lean(true).or_else(|_| lean(false)).or_else(|_| plain()) } else { plain() }?;
    // Without it a wait has no timeout, which pauses and arrivals need.
    if !ring.params().is_feature_ext_arg() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "a kernel before Linux 5.11"));
    }
    Ok(ring)
}

/// Fails if this process may not use io_uring, which `what` needs.
pub fn require(what: &str) -> mindful_core::Result<()> {
    available().map_err(|reason| {
        mindful_core::Error::target(
            format!("this process may not use io_uring ({reason}), which {what} needs"),
            format!("{}, or measure with --io psync and --sessions", leave(&reason)),
        )
    })
}

/// The remedy for a process that may not use io_uring because of `reason`.
pub(crate) fn leave(reason: &io::Error) -> &'static str {
    let disabled = kernel_file::value("/proc/sys/kernel/io_uring_disabled").is_some_and(|value| value != "0");
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let filtered = status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
    remedy(reason.kind(), disabled, filtered)
}

/// A filter of system calls may answer as a kernel without io_uring does.
fn remedy(kind: io::ErrorKind, disabled: bool, filtered: bool) -> &'static str {
    match kind {
        io::ErrorKind::OutOfMemory => "raise the limit of locked memory (`ulimit -l`)",
        _ if disabled => "allow it on the host (sysctl kernel.io_uring_disabled=0)",
        _ if filtered => {
            "a seccomp profile denies it, as a container's default one does: start the container with \
             --security-opt seccomp=unconfined, or seccomp=FILE, the default profile with io_uring_setup, \
             io_uring_enter and io_uring_register allowed; in Kubernetes securityContext.seccompProfile, type Unconfined \
             or Localhost"
        }
        io::ErrorKind::Unsupported => "use a newer kernel (5.11, built with io_uring)",
        _ => "allow it (sysctl kernel.io_uring_disabled=0, or the security module's policy)",
    }
}

/// Whether this process may use io_uring, and why not.
pub(crate) fn available() -> io::Result<()> {
    build(1, true).map(drop)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_remedy_names_the_cause_that_denies_io_uring() {
        use std::io::ErrorKind::{OutOfMemory, PermissionDenied, Unsupported};
        for (kind, disabled, filtered, named) in [
            (OutOfMemory, false, true, "ulimit -l"),
            (PermissionDenied, true, true, "sysctl kernel.io_uring_disabled=0"),
            (PermissionDenied, false, true, "--security-opt seccomp=unconfined"),
            (Unsupported, false, true, "--security-opt seccomp=unconfined"),
            (Unsupported, false, false, "newer kernel"),
            (PermissionDenied, false, false, "security module"),
        ] {
            let remedy = super::remedy(kind, disabled, filtered);
            assert!(remedy.contains(named), "{kind} {disabled} {filtered}: {remedy}");
        }
    }

    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    const BLOCK: usize = 4096;

    /// Features of kernels from 5.11 on, from the newest to the oldest.
    const KERNELS: [Offers; 4] = [
        Offers::ALL,
        Offers { deferred: false, ..Offers::ALL },
        Offers { deferred: false, silent: true, numbers: false },
        Offers { deferred: false, silent: false, numbers: false },
    ];

    /// A file of 64 blocks, each filled with its number.
    fn numbered() -> Arc<[OwnedFd]> {
        let mut file = tempfile::tempfile().unwrap();
        for number in 0..64_u8 {
            file.write_all(&[number; BLOCK]).unwrap();
        }
        Arc::new([file.into()])
    }

    #[test]
    fn every_kernel_reads_the_blocks_that_were_asked_for() {
        for (offers, depth) in KERNELS.iter().flat_map(|offers| [1, 2, 3, 8].map(|depth| (*offers, depth))) {
            let mut ring = Ring::with(numbered(), &vec![BLOCK as u64; depth], 1, false, offers).unwrap();
            let (mut done, mut blocks) = (Vec::new(), vec![0_u8; depth]);
            for round in 0..200_u8 {
                for (slot, block) in blocks.iter_mut().enumerate() {
                    *block = round.wrapping_mul(7).wrapping_add(slot as u8) % 64;
                    ring.read(slot as u32, 0, u64::from(*block) * BLOCK as u64);
                }
                while ring.in_flight() > 0 {
                    ring.submit_and_wait(Some(Duration::from_mins(1))).unwrap();
                    ring.reap(&mut done);
                    for one in &done {
                        assert_eq!(one.result, BLOCK as i32, "{offers:?}");
                        assert_eq!(ring.block(one.slot), [blocks[one.slot as usize]; BLOCK], "{offers:?}");
                    }
                }
            }
        }
    }

    /// A kernel before 5.17 completes an entry with unknown flags with an error.
    #[test]
    fn an_entry_that_does_nothing_frees_no_slot() {
        let (reader, mut writer) = io::pipe().unwrap();
        let files: Arc<[OwnedFd]> = Arc::new([reader.as_fd().try_clone_to_owned().unwrap()]);
        let mut ring = Ring::with(files, &[8], 1, false, Offers { silent: false, ..Offers::ALL }).unwrap();
        ring.read(0, 0, 0);
        // SAFETY: it refers to no memory.
        unsafe { ring.uring.submission().push(&empty()).unwrap() };
        ring.queued += 1;
        let mut done = Vec::new();
        ring.submit_and_wait(None).unwrap();
        ring.reap(&mut done);
        assert_eq!((done.as_slice(), ring.in_flight()), (&[][..], 1), "slot 0 is still with the kernel");
        writer.write_all(b"12345678").unwrap();
        while ring.in_flight() > 0 {
            ring.submit_and_wait(None).unwrap();
            ring.reap(&mut done);
        }
        assert_eq!((done.as_slice(), ring.block(0)), (&[Done { slot: 0, result: 8 }][..], &b"12345678"[..]));
    }
}
