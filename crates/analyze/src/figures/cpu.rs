//! CPU over the window (docs/method.md, CPU).

use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::CpuSummary;

use crate::figures::counters::Counters;
use crate::figures::rates;
use crate::figures::shares::Shares;
use crate::figures::work::Work;

/// The fact of the environment that holds the server CPU of a logical read, us, as a cached run had it.
pub const CACHED_FACT: &str = "cached.us_per_logical_read";
/// Fewest events per second by which CPU is divided: below it the quotient describes no event.
const LEAST_RATE: f64 = 1.0;
/// Physical reads by logical ones above which a difference between them can be distinguished from noise.
const LEAST_MISS: f64 = 0.05;

/// CPU in figures: of the server by its processes, or by its sessions if only they report it.
pub(crate) fn cpu(counters: &Counters, work: Option<&Work>) -> CpuSummary {
    let scheduler = Shares::from_work(work, counters).scheduler;
    let db_cores = counters.server_cores().or_else(|| work.and_then(Work::cores));
    let per = |counter: Counter| {
        let rate = counters.rate(counter).filter(|rate| *rate >= LEAST_RATE)?;
        Some(db_cores? * 1e6 / rate)
    };
    let cores = |counter: Counter| counters.rate(counter).map(|us| us / 1e6);
    // Blocks that were fetched many at once are not IOPS: another tool's result counts requests separately.
    let requests = if work.is_none() { Counter::ReadRequests } else { Counter::PhysicalReads };
    let gross = per(requests).filter(|us| *us > 0.0 && !work.is_some_and(Work::scanned));
    CpuSummary {
        db_cores,
        host_busy_share: rates::host_busy_share(|counter| counters.rate(counter)),
        client_cores: cores(Counter::ClientCpuUs),
        db_us_per_physical_read: per(Counter::PhysicalReads),
        db_us_per_logical_read: per(Counter::LogicalReads),
        db_user_cores: cores(Counter::ServerCpuUserUs),
        db_system_cores: cores(Counter::ServerCpuSystemUs),
        host_kernel_cores: cores(Counter::HostCpuSystemUs),
        host_interrupt_cores: cores(Counter::HostCpuIrqUs)
            .zip(cores(Counter::HostCpuSoftirqUs))
            .map(|(irq, softirq)| irq + softirq),
        steal_share: counters.ratio(Counter::HostCpuStealUs, Counter::HostCpuTotalUs),
        db_us_per_commit: per(Counter::Commits),
        db_us_per_physical_read_marginal: None,
        iops_per_core: gross.map(|us| 1e6 / us),
        cores_per_100k_iops: gross.map(|us| 0.1 * us),
        watching_cores: cores(Counter::ObserverCpuUs).map(|observer| {
            let others = [Counter::SettledObserverCpuUs, Counter::TraceCpuUs, Counter::SamplingCpuUs];
            others.into_iter().filter_map(cores).fold(observer, |a, b| a + b)
        }),
        sessions_cores: work.and_then(Work::cores),
        sessions_on_cpu_share: scheduler.map(|scheduler| scheduler.on_cpu),
        sessions_in_run_queue_share: scheduler.map(|scheduler| scheduler.queued),
        sessions_asleep_share: scheduler.map(|scheduler| scheduler.asleep),
        wait_sampling_share: wait_sampling(counters),
    }
}

/// CPU of the server process that answers the sampling of waits, by the CPU of all.
fn wait_sampling(counters: &Counters) -> Option<f64> {
    let cores = counters.server_cores().filter(|cores| *cores > 0.0)?;
    Some(counters.rate(Counter::MonitorCpuUs)? / 1e6 / cores)
}

/// The part of the host's CPU time that the hypervisor did not steal, 0 to 1. Stolen time is neither busy nor idle: a
/// host with a fifth stolen is full at four fifths.
pub(crate) fn left_to_host(counters: &Counters) -> f64 {
    let stolen = counters.ratio(Counter::HostCpuStealUs, Counter::HostCpuTotalUs);
    stolen.filter(|share| (0.0..1.0).contains(share)).map_or(1.0, |share| 1.0 - share)
}

/// Time in which the control group of the server did not let it run, as a share of a CPU's.
pub(crate) fn held_back(counters: &Counters) -> Option<f64> {
    counters.rate(Counter::ThrottledUs).map(|us| us / 1e6)
}

/// `c = (CPU - b LIO) / PIO` (docs/method.md, CPU): `b` is the CPU of a logical read in a cached run. Unknown without
/// one, where next to nothing was read, and with updates, because their commits would count as reads.
pub(crate) fn marginal(cpu: &CpuSummary, facts: &Facts, step: &StepRecord, counters: &Counters) -> Option<f64> {
    let cached_us: f64 = facts.get(CACHED_FACT)?.parse().ok()?;
    let miss = counters.ratio(Counter::PhysicalReads, Counter::LogicalReads).filter(|miss| *miss >= LEAST_MISS)?;
    let reads_alone = step.head.workload.as_ref()?.update_pct.is_none();
    let rest = (cpu.db_us_per_logical_read? - cached_us) / miss;
    (reads_alone && rest >= 0.0).then_some(rest)
}

/// CPUs that mindful itself may use, by its affinity and its control group, or all of the host that it shares with the
/// server.
pub(crate) fn client_cpus(run: &Run, counters: &Counters) -> Option<f64> {
    let allowed = Fact::CpusAllowed.find(&run.environment).and_then(|cpus| cpus.parse::<f64>().ok());
    // The CPUs of another host do not belong to it.
    let here = run.host.as_ref().is_none_or(|host| host.local);
    let (host, allowed) = (counters.host_cpus().filter(|_| here), allowed.filter(|cpus| *cpus > 0.0));
    allowed.into_iter().chain(host).reduce(f64::min)
}
