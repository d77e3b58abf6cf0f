//! Page-aligned memory for I/O.

#![expect(unsafe_code, reason = "anonymous memory is mapped, viewed as bytes and unmapped")]

use std::io;
use std::ptr::NonNull;
use std::slice;

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// A mapping of zeroed bytes, aligned to pages and on huge pages where there are any.
#[derive(Debug)]
pub struct Buffer {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone and is not bound to a thread.
unsafe impl Send for Buffer {}

impl Buffer {
    /// A buffer of `len` bytes.
    pub fn new(len: usize) -> io::Result<Self> {
        let len = len.max(1);
        // SAFETY: a fresh private mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        // SAFETY: the range is the mapping just made; the advice changes how it is backed, not what it holds.
        let _ = unsafe { rustix::mm::madvise(start, len, Advice::LinuxHugepage) };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, len })
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is readable for `len` bytes and lives as long as `self`.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// All bytes, to be changed.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, writable, and borrowed by nobody else.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping made in `new`, and no borrow of it outlives `self`.
        let _ = unsafe { rustix::mm::munmap(self.start.as_ptr().cast(), self.len) };
    }
}
