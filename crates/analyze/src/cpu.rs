//! CPU over the window (measurement.md M7).

use mindful_core::metric::shared;
use mindful_core::result::CpuSummary;
use mindful_core::run::Run;

use crate::counters::Counters;
use crate::work::Work;

/// CPU in figures: of the server by its processes, or by its sessions where only these tell.
pub fn cpu(counters: &Counters, work: &Work) -> CpuSummary {
    let by_sessions = || work.cpu_us.filter(|us| *us > 0.0).map(|us| us / 1e6 / work.seconds);
    let db_cores = counters.server_cores().or_else(by_sessions);
    let per = |name: &str| {
        let rate = counters.rate(name).filter(|rate| *rate >= LEAST_RATE)?;
        Some(db_cores? * 1e6 / rate)
    };
    CpuSummary {
        db_cores,
        host_busy_share: counters.ratio(shared::HOST_CPU_BUSY_US, shared::HOST_CPU_TOTAL_US),
        client_cores: counters.rate(shared::CLIENT_CPU_US).map(|us| us / 1e6),
        db_us_per_physical_read: per(shared::PHYSICAL_READS),
        db_us_per_logical_read: per(shared::LOGICAL_READS),
    }
}

/// Fewest events per second by which CPU is divided: below it the quotient says nothing about one of them.
const LEAST_RATE: f64 = 1.0;

/// CPUs that mindful itself may use: those its affinity and its control group leave it, or all of the host.
pub fn client_cpus(run: &Run, counters: &Counters) -> Option<f64> {
    let allowed = run.environment.get("client.cpus_allowed").and_then(|cpus| cpus.parse::<f64>().ok());
    let (host, allowed) = (counters.host_cpus(), allowed.filter(|cpus| *cpus > 0.0));
    allowed.into_iter().chain(host).reduce(f64::min)
}
