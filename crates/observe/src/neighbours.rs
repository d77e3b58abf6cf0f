//! CPU of processes other than the server's and mindful's, from `/proc/PID/stat` of all.
//!
//! The kernel's own threads are counted separately, because they serve I/O of all processes, the server's too.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, HostSource, Metric, ProcessCpu, SampledSource, Sampler};
use mindful_host::process::{self, Stat, tick_us};
use mindful_host::{Kernel, cpu};

/// The first thread of the kernel: a process that can see it can see all processes of the host.
const KTHREADD: u32 = 2;
const NAMED: usize = 16;
/// Reading all processes takes at most this part of a CPU; on a host with very many, some boundaries are skipped.
const MOST_OF_A_CPU: f64 = 0.01;

pub(crate) struct Neighbours {
    kernel: Kernel,
    /// The server's process; `None` if it is mindful.
    server: Option<u32>,
    source: SampledSource,
    us_per_tick: f64,
    /// Ticks at the previous sample, by process and its start time.
    before: Option<HashMap<(u32, u64), u64>>,
    /// Storage traffic at the previous sample, of processes that were at work.
    storage: HashMap<(u32, u64), [u64; 2]>,
    kernel_ticks: u64,
    busiest: Vec<ProcessCpu>,
    looked: Option<(Instant, Duration)>,
}

impl Neighbours {
    /// `None` if some processes are hidden: in a container, or with `hidepid`.
    pub(crate) fn open(kernel: &Kernel, server: Option<u32>) -> Option<Self> {
        let all_seen = Stat::read(kernel, KTHREADD).is_ok_and(|stat| stat.of_kernel);
        let help = "CPU of the kernel's own threads, which serve I/O of all processes";
        all_seen.then(|| Self {
            kernel: kernel.clone(),
            server,
            source: SampledSource::new(
                HostSource::Neighbours.name(),
                [Metric::counter(Counter::KernelThreadsUs, "us", help)],
            ),
            us_per_tick: tick_us(),
            before: None,
            storage: HashMap::new(),
            kernel_ticks: 0,
            busiest: Vec::new(),
            looked: None,
        })
    }

    /// Whether enough time has passed since the previous sample to justify another one.
    fn due(&self) -> bool {
        self.looked.is_none_or(|(at, cost)| cost.as_secs_f64() <= MOST_OF_A_CPU * at.elapsed().as_secs_f64())
    }

    fn look(&mut self) {
        let pids = process::all(&self.kernel).into_iter();
        let now: HashMap<u32, Stat> = pids.filter_map(|pid| Some((pid, Stat::read(&self.kernel, pid).ok()?))).collect();
        let used = |stat: &Stat| stat.user_ticks + stat.system_ticks;
        let (mut busiest, mut storage) = (Vec::new(), HashMap::new());
        if let Some(before) = &self.before {
            for (pid, stat) in &now {
                let grown = used(stat).saturating_sub(before.get(&(*pid, stat.started)).copied().unwrap_or(0));
                if stat.of_kernel {
                    self.kernel_ticks += grown;
                } else if grown > 0 && !self.is_ours(&now, *pid) {
                    let cpu_us = grown as f64 * self.us_per_tick;
                    let sum = process::storage_bytes(&self.kernel, *pid).ok();
                    let storage_bytes = sum.map(|sum| {
                        storage.insert((*pid, stat.started), sum);
                        let known = self.storage.get(&(*pid, stat.started)).unwrap_or(&sum);
                        [0, 1].map(|way| sum[way].saturating_sub(known[way]) as f64)
                    });
                    busiest.push(ProcessCpu { pid: *pid, name: stat.name.clone(), cpu_us, storage_bytes });
                }
            }
        }
        busiest.sort_by(|one, other| other.cpu_us.total_cmp(&one.cpu_us));
        busiest.truncate(NAMED);
        self.busiest = busiest;
        self.storage.retain(|process, _| now.get(&process.0).is_some_and(|stat| stat.started == process.1));
        self.storage.extend(storage);
        self.before = Some(now.iter().map(|(pid, stat)| ((*pid, stat.started), used(stat))).collect());
    }

    /// Whether it is mindful, the server or one below the server.
    fn is_ours(&self, all: &HashMap<u32, Stat>, pid: u32) -> bool {
        let parent = |pid: &u32| all.get(pid).map(|stat| stat.parent);
        pid == std::process::id()
            || self.server.is_some_and(|server| {
                // A process that started and ended between two samples may close a circle.
                std::iter::successors(Some(pid), parent).take(all.len()).any(|pid| pid == server)
            })
    }
}

impl Sampler for Neighbours {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        if !self.due() {
            return Ok(vec![None]);
        }
        let (begun, used) = (Instant::now(), cpu::of_thread());
        self.look();
        self.looked = Some((begun, cpu::of_thread().saturating_sub(used)));
        Ok(vec![Some(self.kernel_ticks as f64 * self.us_per_tick)])
    }

    fn busiest(&mut self) -> Vec<ProcessCpu> {
        std::mem::take(&mut self.busiest)
    }
}
