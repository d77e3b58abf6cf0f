//! How the kernel keeps time.

use crate::kernel_file::Kernel;
use crate::kernel_file::value;

/// The clock the kernel tells the time by, as it names it: `tsc`, `kvm-clock`, `hpet`.
pub fn source(kernel: &Kernel) -> Option<String> {
    value(kernel.sys.join("devices/system/clocksource/clocksource0/current_clocksource"))
}
