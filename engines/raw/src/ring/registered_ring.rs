//! The kernel's number of a ring on one thread: calls with it avoid a look-up.

#![expect(unsafe_code, reason = "calls of io_uring by number; see each SAFETY note")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::IoUring;
use rustix::io_uring::{
    IoringEnterFlags, IoringRegisterOp, io_uring_enter, io_uring_ptr, io_uring_register, io_uring_rsrc_update,
};

/// A ring registered for the thread that made it (Linux 5.18).
#[derive(Debug)]
pub(crate) struct RegisteredRing(u32);

impl RegisteredRing {
    /// Registers `ring`; `None` if the kernel does not support it.
    pub(crate) fn register(ring: &IoUring) -> Option<Self> {
        let data = io_uring_ptr::new(std::ptr::without_provenance_mut(ring.as_raw_fd() as usize));
        let mut entry = entry(u32::MAX, data);
        let count = call(ring, IoringRegisterOp::RegisterRingFds, &mut entry).ok()?;
        (count == 1).then_some(Self(entry.offset))
    }

    /// Unregisters the number. If that fails, the kernel does it when the thread ends.
    pub(crate) fn unregister(&self, ring: &IoUring) {
        let _ = call(ring, IoringRegisterOp::UnregisterRingFds, &mut entry(self.0, io_uring_ptr::null()));
    }

    /// Submits `queued` entries and waits for `wanted` completions; returns the number of submitted ones.
    ///
    /// # Safety
    ///
    /// Memory and files of the queued entries must stay valid until they complete.
    #[inline]
    pub(crate) unsafe fn enter(&self, queued: u32, wanted: u32, flags: IoringEnterFlags) -> io::Result<u32> {
        // SAFETY: with this flag the kernel uses the number as an index, not as a file.
        let ring = unsafe { BorrowedFd::borrow_raw(self.0.cast_signed()) };
        // SAFETY: as promised by the caller.
        let submitted = unsafe { io_uring_enter(ring, queued, wanted, flags | IoringEnterFlags::REGISTERED_RING) };
        submitted.map_err(io::Error::from)
    }
}

fn entry(offset: u32, data: io_uring_ptr) -> io_uring_rsrc_update {
    let mut entry = io_uring_rsrc_update::default();
    (entry.offset, entry.data) = (offset, data);
    entry
}

fn call(ring: &IoUring, what: IoringRegisterOp, entry: &mut io_uring_rsrc_update) -> rustix::io::Result<u32> {
    // SAFETY: the descriptor is open as long as the ring.
    let fd = unsafe { BorrowedFd::borrow_raw(ring.as_raw_fd()) };
    // SAFETY: the kernel reads and writes one entry, which outlives the call.
    unsafe { io_uring_register(fd, what, (&raw mut *entry).cast_const().cast(), 1) }
}
