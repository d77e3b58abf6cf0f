//! Names of facts about hosts and storage that more than one crate speaks of: who finds them and who judges by them share
//! these, so that neither can rename one alone.

/// Model of the CPUs.
pub const CPU_MODEL: &str = "cpu.model";
/// CPUs that the kernel schedules on.
pub const CPU_COUNT: &str = "cpu.count";
/// Cores of all sockets.
pub const CPU_CORES: &str = "cpu.cores";
/// Sockets.
pub const CPU_SOCKETS: &str = "cpu.sockets";
/// CPUs that mindful itself may use.
pub const CPUS_ALLOWED: &str = "client.cpus_allowed";
/// Memory of the host, bytes.
pub const MEMORY_BYTES: &str = "memory.bytes";
/// Release of the kernel, as `uname -r` prints it.
pub const KERNEL_RELEASE: &str = "kernel.release";
/// Name of the host.
pub const HOST_NAME: &str = "host.name";
/// The folder that holds the data.
pub const STORAGE_PATH: &str = "storage.path";
/// The devices that the file system of the data stands on, from the uppermost down: `dm-0 < sda`.
pub const STORAGE_DEVICE: &str = "storage.device";
/// Why the device of the data is not known.
pub const STORAGE_DEVICE_NOT_SEEN: &str = "storage.device_not_seen";
/// Kind of the file system that holds the data.
pub const STORAGE_FILESYSTEM: &str = "storage.filesystem";
