//! Page-aligned memory for I/O.

#![expect(unsafe_code, reason = "anonymous memory is mapped, viewed as bytes and unmapped")]

use std::io;
use std::ptr::NonNull;
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags};
use rustix::process::Resource;
use rustix::thread::CapabilitySet;

/// Length of a huge page in bytes, where pages are 4 KiB.
const HUGE_PAGE: usize = 2 << 20;

/// Most bytes that the sessions of a step take together only for whole huge pages.
const MOST_HUGE: usize = 256 << 20;

/// A mapping of zeroed bytes, aligned to pages and on huge pages where there are any.
#[derive(Debug)]
pub(crate) struct Buffer {
    start: NonNull<u8>,
    len: usize,
    mapped: usize,
}

// SAFETY: only this value uses the mapping, which is not bound to a thread.
unsafe impl Send for Buffer {}

impl Buffer {
    pub(crate) fn new(len: usize) -> io::Result<Self> {
        Self::map(len, len.max(1))
    }

    /// The same rounded up to whole huge pages (aligned from Linux 6.7 on): a block on them is one piece of memory,
    /// which the kernel, the device and a hypervisor between carry for less than two.
    pub(crate) fn on_huge_pages(len: usize) -> io::Result<Self> {
        Self::map(len, len.max(1).next_multiple_of(HUGE_PAGE))
    }

    fn map(len: usize, mapped: usize) -> io::Result<Self> {
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                mapped,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        // SAFETY: the range is the new mapping; the advice changes its backing, not its contents.
        let _ = unsafe { rustix::mm::madvise(start, mapped, Advice::LinuxHugepage) };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len, mapped })
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// `len` bytes from byte `start` on; other bytes may belong to the kernel at the time.
    ///
    /// # Safety
    ///
    /// Nothing else, the kernel included, writes these bytes while they are borrowed.
    pub(crate) unsafe fn part(&self, start: usize, len: usize) -> &[u8] {
        // SAFETY: checked to lie within the mapping, which lives as long as `self`; the caller guarantees the rest.
        unsafe { slice::from_raw_parts(self.part_ptr(start, len), len) }
    }

    /// The same, to be changed.
    ///
    /// # Safety
    ///
    /// Nothing else, the kernel included, reads or writes these bytes while they are borrowed.
    pub(crate) unsafe fn part_mut(&mut self, start: usize, len: usize) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.part_ptr(start, len), len) }
    }

    fn part_ptr(&self, start: usize, len: usize) -> *mut u8 {
        assert!(start.checked_add(len).is_some_and(|end| end <= self.len), "a part lies within its buffer");
        self.start.as_ptr().wrapping_add(start)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable for `len` bytes and lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, writable, and not borrowed elsewhere.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping made in `new`, and no borrow of it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.mapped) };
    }
}

/// Whether `sessions` buffers of `len` bytes may each use whole huge pages. Registered memory counts in huge pages
/// towards the limit of locked memory; half of that is left free.
pub(crate) fn huge_pages_fit(len: usize, sessions: u32) -> bool {
    let all = len.max(1).next_multiple_of(HUGE_PAGE).saturating_mul(sessions as usize);
    let unlimited = rustix::thread::capabilities(None).is_ok_and(|own| own.effective.contains(CapabilitySet::IPC_LOCK));
    let limit = rustix::process::getrlimit(Resource::Memlock).current;
    all <= MOST_HUGE && (unlimited || limit.is_none_or(|bytes| all as u64 <= bytes / 2))
}
