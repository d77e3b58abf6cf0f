//! CPU of server, host and client.

use mindful_core::metric::shared;

use super::Figure;

pub(super) const FIGURES: &[Figure] = &[
    Figure {
        name: "db_cores",
        formula: "user and system CPU of the server's processes / time; of its sessions where only these tell",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.db_cores,
    },
    Figure {
        name: "host_busy_share",
        formula: "busy CPU time of the host (user, nice, system, irq, softirq) / all CPU time",
        sources: &[shared::HOST_CPU_BUSY_US, shared::HOST_CPU_TOTAL_US],
        value: |s| s.summary.cpu.host_busy_share,
    },
    Figure {
        name: "client_cores",
        formula: "CPU time of mindful / time",
        sources: &[shared::CLIENT_CPU_US],
        value: |s| s.summary.cpu.client_cores,
    },
    Figure {
        name: "db_us_per_physical_read",
        formula: "10^6 x db_cores / physical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.db_us_per_physical_read,
    },
    Figure {
        name: "db_us_per_logical_read",
        formula: "10^6 x db_cores / logical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::LOGICAL_READS],
        value: |s| s.summary.cpu.db_us_per_logical_read,
    },
    Figure {
        name: "db_user_cores",
        formula: "user CPU of the server's processes / time",
        sources: &[shared::SERVER_CPU_USER_US],
        value: |s| s.summary.cpu.db_user_cores,
    },
    Figure {
        name: "db_system_cores",
        formula: "system CPU of the server's processes / time",
        sources: &[shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.db_system_cores,
    },
    Figure {
        name: "host_kernel_cores",
        formula: "CPU of the whole host in the kernel, interrupts apart / time",
        sources: &[shared::HOST_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.host_kernel_cores,
    },
    Figure {
        name: "host_interrupt_cores",
        formula: "CPU of the whole host in interrupts and soft interrupts / time",
        sources: &[shared::HOST_CPU_IRQ_US, shared::HOST_CPU_SOFTIRQ_US],
        value: |s| s.summary.cpu.host_interrupt_cores,
    },
    Figure {
        name: "steal_share",
        formula: "CPU time that the hypervisor gave to others / all CPU time of the host",
        sources: &[shared::HOST_CPU_STEAL_US, shared::HOST_CPU_TOTAL_US],
        value: |s| s.summary.cpu.steal_share,
    },
    Figure {
        name: "db_us_per_commit",
        formula: "10^6 x db_cores / commits per second: reads and updates between two commits are in it",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::COMMITS],
        value: |s| s.summary.cpu.db_us_per_commit,
    },
    Figure {
        name: "db_us_per_physical_read_marginal",
        formula: "(db_us_per_logical_read - the same in a cached run) x logical reads / physical reads; unknown when no \
                  cached run of this engine, version and CPU was stored before (--mode lio), when less than 5 % of \
                  logical reads are physical, and with updates",
        sources: &[
            shared::SERVER_CPU_USER_US,
            shared::SERVER_CPU_SYSTEM_US,
            shared::LOGICAL_READS,
            shared::PHYSICAL_READS,
        ],
        value: |s| s.summary.cpu.db_us_per_physical_read_marginal,
    },
    Figure {
        name: "iops_per_core",
        formula: "physical reads per second / db_cores",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.iops_per_core,
    },
    Figure {
        name: "cores_per_100k_iops",
        formula: "100,000 x db_cores / physical reads per second",
        sources: &[shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US, shared::PHYSICAL_READS],
        value: |s| s.summary.cpu.cores_per_100k_iops,
    },
    Figure {
        name: "watching_cores",
        formula: "CPU of the threads that read counters, time requests and ask for wait events / time",
        sources: &[shared::OBSERVER_CPU_US, shared::TRACE_CPU_US, shared::SAMPLING_CPU_US],
        value: |s| s.summary.cpu.watching_cores,
    },
    Figure {
        name: "wait_sampling_share",
        formula: "CPU of the server process that answers the sampling of waits / CPU of all the server's processes",
        sources: &[shared::MONITOR_CPU_US, shared::SERVER_CPU_USER_US, shared::SERVER_CPU_SYSTEM_US],
        value: |s| s.summary.cpu.wait_sampling_share,
    },
];
