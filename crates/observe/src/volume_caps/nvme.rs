//! Log pages of NVMe controllers, which the kernel hands to root (CAP_SYS_ADMIN).
#![expect(unsafe_code, reason = "no safe call passes a command to a controller; see the SAFETY note")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

pub(super) const PAGE_BYTES: usize = 4_096;

/// The command that requests a log page of a controller (NVM Express base specification).
const GET_LOG_PAGE: u8 = 0x02;
/// `NVME_IOCTL_ADMIN_CMD` of linux/nvme_ioctl.h.
const ADMIN_COMMAND: libc::Ioctl = 0xC048_4E41_u32 as libc::Ioctl;

/// `struct nvme_passthru_cmd` of linux/nvme_ioctl.h.
#[repr(C)]
#[derive(Default)]
struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    bytes: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// The first bytes of log page `number` of the controller of namespace `device`. An error is the kernel's (ENOTTY for
/// other devices, EACCES without the right), or names the status with which the controller refused.
pub(super) fn log_page(device: &File, number: u8) -> io::Result<[u8; PAGE_BYTES]> {
    let mut page = [0; PAGE_BYTES];
    let words = (PAGE_BYTES / 4 - 1) as u32;
    let mut command = Command {
        opcode: GET_LOG_PAGE,
        namespace: 1,
        address: page.as_mut_ptr() as u64,
        bytes: PAGE_BYTES as u32,
        words_10_to_15: [u32::from(number) | (words << 16), 0, 0, 0, 0, 0],
        ..Command::default()
    };
    // SAFETY: the command has the kernel's layout and contains address and length of a page that outlives the call; the
    // kernel writes only to these two, and keeps neither.
    match unsafe { libc::ioctl(device.as_raw_fd(), ADMIN_COMMAND, &raw mut command) } {
        0 => Ok(page),
        status if status > 0 => {
            Err(io::Error::other(format!("the controller refused it with NVMe status {status:#x}")))
        }
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_laid_out_as_the_kernels() {
        assert_eq!(size_of::<Command>(), 0x48, "the number of the call contains the size");
        assert_eq!(std::mem::offset_of!(Command, address), 24);
        assert_eq!(std::mem::offset_of!(Command, words_10_to_15), 40);
    }

    #[test]
    fn another_device_than_nvme_refuses() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(log_page(&file, 0xD0).unwrap_err().raw_os_error(), Some(libc::ENOTTY));
    }
}
