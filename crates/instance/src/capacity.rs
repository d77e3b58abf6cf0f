//! Required capacity of a private server, and the capacity of its host.

use mindful_core::{Error, Result, plan::units};
use mindful_host::{Kernel, memory};

/// Connections in addition to the sessions: samplers, checks, and those that the server reserves.
const SPARE_CONNECTIONS: u32 = 24;

pub const FEWEST_CONNECTIONS: u32 = 100;

/// Connections to prepare for `sessions` sessions, in steps so that a few more need no restart.
pub fn connections_for(sessions: u32) -> u32 {
    (sessions + SPARE_CONNECTIONS).next_multiple_of(FEWEST_CONNECTIONS)
}

/// Bytes of a cache that all of `data_bytes` fits in: 15 % and 64 MiB to spare.
pub fn cache_of_all(data_bytes: u64) -> u64 {
    data_bytes + data_bytes / 20 * 3 + (64 << 20)
}

/// Memory this host, or the control groups mindful is in, may use; bytes.
pub fn memory_bytes() -> Option<u64> {
    memory::usable_bytes(&Kernel::default())
}

/// Refuses a cache of `size` bytes that `memory_bytes` cannot hold; `what` is the server's word for its cache.
///
/// # Errors
/// More than three quarters of the memory, if that is known.
pub fn carries(what: &str, size: u64, memory_bytes: Option<u64>) -> Result<()> {
    match memory_bytes {
        Some(memory) if size > memory / 4 * 3 => Err(Error::plan(
            format!(
                "a {what} of {} is more than three quarters of the memory, {}",
                units::format_bytes(size),
                units::format_bytes(memory)
            ),
            "pass a smaller --cache, or clean up and load a smaller --scale, or choose --mode pio",
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_always_more_connections_than_sessions() {
        for sessions in [0, 1, 76, 77, 256, 16_384] {
            assert!(connections_for(sessions) >= sessions + SPARE_CONNECTIONS);
        }
    }
}
