//! CPU of server, host and client.

use mindful_core::contract::metric::shared;

use super::figure::{Figure, Unit};

/// CPU of the server.
pub const DB_CORES: Figure = Figure::of_step(
    "cpu.db_cores",
    Unit::Cores,
    "user and system CPU of the server's processes / time; of its sessions where only these tell",
    &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
    |s| s.summary.cpu.db_cores,
);

/// CPU of the server by logical reads.
pub const DB_US_PER_LOGICAL_READ: Figure = Figure::of_step(
    "cpu.db_us_per_logical_read",
    Unit::Microseconds,
    "10^6 x db_cores / logical reads per second",
    &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::LOGICAL_READS],
    |s| s.summary.cpu.db_us_per_logical_read,
);

pub(super) const FIGURES: &[Figure] = &[
    DB_CORES,
    Figure::of_step(
        "cpu.db_user_cores",
        Unit::Cores,
        "user CPU of the server's processes / time",
        &[shared::SERVER_CPU_USER_US],
        |s| s.summary.cpu.db_user_cores,
    ),
    Figure::of_step(
        "cpu.db_system_cores",
        Unit::Cores,
        "system CPU of the server's processes / time",
        &[shared::SERVER_CPU_SYSTEM_US],
        |s| s.summary.cpu.db_system_cores,
    ),
    Figure::of_step(
        "cpu.host_busy_share",
        Unit::Share,
        "busy CPU time of the host (user, nice, system, irq, softirq) / all CPU time",
        &[shared::HOST_CPU_BUSY_US, shared::HOST_CPU_TOTAL_US],
        |s| s.summary.cpu.host_busy_share,
    ),
    Figure::of_step(
        "cpu.host_kernel_cores",
        Unit::Cores,
        "CPU of the whole host in the kernel, interrupts apart / time",
        &[shared::HOST_CPU_SYSTEM_US],
        |s| s.summary.cpu.host_kernel_cores,
    ),
    Figure::of_step(
        "cpu.host_interrupt_cores",
        Unit::Cores,
        "CPU of the whole host in interrupts and soft interrupts / time",
        &[shared::HOST_CPU_IRQ_US, shared::HOST_CPU_SOFTIRQ_US],
        |s| s.summary.cpu.host_interrupt_cores,
    ),
    Figure::of_step(
        "cpu.steal_share",
        Unit::Share,
        "CPU time that the hypervisor gave to others / all CPU time of the host",
        &[shared::HOST_CPU_STEAL_US, shared::HOST_CPU_TOTAL_US],
        |s| s.summary.cpu.steal_share,
    ),
    Figure::of_step(
        "cpu.client_cores",
        Unit::Cores,
        "CPU time of mindful / time; of several ranks the sum",
        &[shared::CLIENT_CPU_US],
        |s| s.summary.cpu.client_cores,
    ),
    Figure::of_step(
        "client_peak_bytes",
        Unit::Bytes,
        "the most memory that mindful held until the end of the window (VmHWM)",
        &[shared::CLIENT_PEAK_BYTES],
        |s| s.summary.client_peak_bytes,
    ),
    Figure::of_step(
        "cpu.watching_cores",
        Unit::Cores,
        "CPU of the threads that read counters, time requests and ask for wait events / time",
        &[shared::OBSERVER_CPU_US, shared::SETTLED_OBSERVER_CPU_US, shared::TRACE_CPU_US, shared::SAMPLING_CPU_US],
        |s| s.summary.cpu.watching_cores,
    ),
    Figure::of_step(
        "cpu.wait_sampling_share",
        Unit::Share,
        "CPU of the server process that answers the sampling of waits / CPU of all the server's processes",
        &[shared::MONITOR_CPU_US, shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
        |s| s.summary.cpu.wait_sampling_share,
    ),
    Figure::of_step(
        "cpu.db_us_per_physical_read",
        Unit::Microseconds,
        "10^6 x db_cores / physical reads per second",
        &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        |s| s.summary.cpu.db_us_per_physical_read,
    ),
    Figure::of_step(
        "cpu.db_us_per_physical_read_marginal",
        Unit::Microseconds,
        "(db_us_per_logical_read - the same in a cached run) x logical reads / physical reads; unknown when no \
                  cached run of this engine, version and CPU was stored before (--mode lio), when less than 5 % of \
                  logical reads are physical, and with updates",
        &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::LOGICAL_READS, shared::PHYSICAL_READS],
        |s| s.summary.cpu.db_us_per_physical_read_marginal,
    ),
    DB_US_PER_LOGICAL_READ,
    Figure::of_step(
        "cpu.db_us_per_commit",
        Unit::Microseconds,
        "10^6 x db_cores / commits per second: reads and updates between two commits are in it",
        &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::COMMITS],
        |s| s.summary.cpu.db_us_per_commit,
    ),
    Figure::of_step(
        "cpu.iops_per_core",
        Unit::PerSecond,
        "physical reads per second / db_cores",
        &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        |s| s.summary.cpu.iops_per_core,
    ),
    Figure::of_step(
        "cpu.cores_per_100k_iops",
        Unit::Cores,
        "100,000 x db_cores / physical reads per second",
        &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        |s| s.summary.cpu.cores_per_100k_iops,
    ),
];
