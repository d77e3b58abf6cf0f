//! CPU of the whole host, from `/proc/stat`.
//!
//! The kernel keeps times in clock ticks (`USER_HZ`) summed over all CPUs since boot. Time of guests is already part of
//! user and nice; I/O wait is idle time; stolen time is neither busy nor idle.

use std::io;

use mindful_core::contract::metric::{Counter, HostSource, Metric, MetricFamily, SampledSource, Sampler};
use mindful_host::Kernel;
use mindful_host::kernel_file::KernelFile;
use mindful_host::process::tick_us;

/// One line `cpu…`: ticks by state, in the kernel's order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CpuTicks {
    pub(crate) user: u64,
    pub(crate) nice: u64,
    pub(crate) system: u64,
    pub(crate) idle: u64,
    pub(crate) iowait: u64,
    pub(crate) irq: u64,
    pub(crate) softirq: u64,
    pub(crate) steal: u64,
}

impl CpuTicks {
    pub(crate) fn busy(&self) -> u64 {
        [self.nice, self.system, self.irq, self.softirq].into_iter().fold(self.user, u64::saturating_add)
    }

    pub(crate) fn total(&self) -> u64 {
        [self.idle, self.iowait, self.steal].into_iter().fold(self.busy(), u64::saturating_add)
    }

    /// From the numbers of a line; kernels before 2.6.11 lack the last ones.
    fn parse(numbers: &str) -> Option<Self> {
        let mut fields = numbers.split_ascii_whitespace().map(|field| field.parse::<u64>().ok());
        let mut needed = || fields.next().flatten();
        let mut ticks =
            Self { user: needed()?, nice: needed()?, system: needed()?, idle: needed()?, ..Self::default() };
        for slot in [&mut ticks.iowait, &mut ticks.irq, &mut ticks.softirq, &mut ticks.steal] {
            *slot = needed().unwrap_or(0);
        }
        Some(ticks)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct HostStat {
    pub(crate) all: Option<CpuTicks>,
    /// `(number, ticks)` of every CPU that is online.
    pub(crate) each: Vec<(u32, CpuTicks)>,
    pub(crate) interrupts: Option<u64>,
    pub(crate) context_switches: Option<u64>,
    pub(crate) running: Option<u64>,
    pub(crate) blocked: Option<u64>,
}

impl HostStat {
    pub(crate) fn parse(text: &str) -> Self {
        let mut stat = Self::default();
        for (label, rest) in text.lines().filter_map(|line| line.split_once(' ')) {
            let first = || rest.split_ascii_whitespace().next().and_then(|number| number.parse().ok());
            match label {
                "cpu" => stat.all = CpuTicks::parse(rest),
                "intr" => stat.interrupts = first(),
                "ctxt" => stat.context_switches = first(),
                "procs_running" => stat.running = first(),
                "procs_blocked" => stat.blocked = first(),
                _ => stat.each.extend(
                    label.strip_prefix("cpu").and_then(|number| number.parse().ok()).zip(CpuTicks::parse(rest)),
                ),
            }
        }
        stat
    }
}

/// Samples the CPU of the host, all together and each.
pub(crate) fn host_cpu(kernel: &Kernel) -> io::Result<Box<dyn Sampler>> {
    let mut file = KernelFile::open(kernel.proc.join("stat"))?;
    let cpus: Vec<u32> = HostStat::parse(file.text()?).each.into_iter().map(|(cpu, _)| cpu).collect();
    let mut iowait = 0;
    Ok(SampledSource::new(HostSource::Stat.name(), metrics(&cpus)).read_by(move || {
        let mut stat = HostStat::parse(file.read()?);
        if let Some(all) = &mut stat.all {
            // The kernel's own may fall back a little; a counter must not.
            iowait = all.iowait.max(iowait);
            all.iowait = iowait;
        }
        Ok(values(&stat, &cpus))
    }))
}

/// A time of all CPUs together: its name, its meaning, and its part of the ticks.
type CpuTime = (&'static str, &'static str, fn(&CpuTicks) -> u64);

const TIMES: [CpuTime; 10] = [
    (
        Counter::HostCpuBusyUs.name(),
        "CPU of all CPUs in user, nice, system, interrupts and soft interrupts",
        CpuTicks::busy,
    ),
    (
        Counter::HostCpuTotalUs.name(),
        "CPU of all CPUs in any state, stolen time included: elapsed time times CPUs",
        CpuTicks::total,
    ),
    (Counter::HostCpuStealUs.name(), "time in which the hypervisor ran other guests while a CPU had work", |ticks| {
        ticks.steal
    }),
    (Counter::HostCpuUserUs.name(), "CPU in user mode, guests included", |ticks| ticks.user),
    (Counter::HostCpuNiceUs.name(), "CPU in user mode at low priority", |ticks| ticks.nice),
    (Counter::HostCpuSystemUs.name(), "CPU in the kernel", |ticks| ticks.system),
    ("idle", "CPU idle with no I/O outstanding", |ticks| ticks.idle),
    ("iowait", "CPU idle while a task that last ran there waited for I/O", |ticks| ticks.iowait),
    (Counter::HostCpuIrqUs.name(), "CPU in interrupt handlers", |ticks| ticks.irq),
    (Counter::HostCpuSoftirqUs.name(), "CPU in soft interrupts", |ticks| ticks.softirq),
];

fn metrics(cpus: &[u32]) -> Vec<Metric> {
    let times = TIMES.map(|(name, help, _)| Metric::counter(name, "us", help));
    let counts = [
        Metric::counter("interrupts", "1", "interrupts served"),
        Metric::counter("context_switches", "1", "context switches of all CPUs"),
        Metric::gauge("procs_running", "1", "tasks running or ready to run"),
        Metric::gauge("procs_blocked", "1", "tasks waiting for I/O"),
    ];
    let busy = cpus.iter().map(|cpu| MetricFamily::CpuBusy.metric_name(cpu));
    let busy = busy.map(|name| Metric::counter(name, "us", "busy time of one CPU"));
    times.into_iter().chain(counts).chain(busy).collect()
}

/// The values in the order of [`metrics`].
fn values(stat: &HostStat, cpus: &[u32]) -> Vec<Option<f64>> {
    let us_per_tick = tick_us();
    let times = TIMES.iter().map(|(.., part)| stat.all.as_ref().map(|ticks| part(ticks) as f64 * us_per_tick));
    let counts = [stat.interrupts, stat.context_switches, stat.running, stat.blocked];
    let counts = counts.map(|count| count.map(|count| count as f64));
    let busy = cpus.iter().map(|wanted| {
        let found = stat.each.iter().find(|(cpu, _)| cpu == wanted);
        found.map(|(_, ticks)| ticks.busy() as f64 * us_per_tick)
    });
    times.chain(counts).chain(busy).collect()
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "\
cpu  57142 3 25011 243084 9422 11 460 187 40 0
cpu0 29182 3 12574 121625 4103 11 77 95 40 0
cpu7 27959 0 12437 121458 5319 0 383 92 0 0
intr 1833444 0 6 0 0 0
ctxt 3673571
btime 1795223420
processes 16371
procs_running 3
procs_blocked 1
softirq 677827 0 52659 4 23508 296084 0 260 157943 0 147369
";

    #[test]
    fn io_wait_is_idle_and_guests_are_not_counted_twice() {
        let stat = HostStat::parse(TEXT);
        let all = stat.all.unwrap();
        assert_eq!(all.busy(), 57142 + 3 + 25011 + 11 + 460);
        assert_eq!(all.total(), all.busy() + 243_084 + 9422 + 187);
        assert_eq!(stat.each.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [0, 7]);
        assert_eq!((stat.interrupts, stat.context_switches), (Some(1_833_444), Some(3_673_571)));
        assert_eq!((stat.running, stat.blocked), (Some(3), Some(1)));
    }

    #[test]
    fn fields_missing_in_the_text_are_unknown() {
        assert_eq!(HostStat::parse("cpu 1 2\nctxt x\n"), HostStat::default());
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("(cpu|intr|ctxt|procs_|[0-9 -]|\\PC|\n){0,80}", |text| {
            assert!(HostStat::parse(text).all.is_none_or(|all| all.total() >= all.busy()));
        });
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn every_tick_is_counted_once(ticks in proptest::array::uniform8(0u64..1 << 50)) {
            let line = ticks.map(|tick| tick.to_string()).join(" ");
            let all = HostStat::parse(&format!("cpu  {line} 0 0\n")).all.unwrap();
            prop_assert_eq!(all.total(), ticks.iter().sum::<u64>());
        }
    }
}
