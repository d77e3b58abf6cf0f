//! CPU and memory of mindful itself, and the part used for reading sources.

use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, HostSource, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_host::kernel_file::{named_values, value};
use mindful_host::{Kernel, cpu};

/// Samples the CPU of this process (all its threads, no children) and its peak memory so far.
#[derive(Debug)]
pub(crate) struct Client {
    status: PathBuf,
    source: SampledSource,
}

impl Client {
    pub(crate) fn new(kernel: &Kernel) -> Self {
        let help = "user and system CPU of mindful itself, without the processes it started";
        let watching = "CPU of the thread that reads the sources of boundaries; part of it";
        let metrics = [
            Metric::counter(Counter::ClientCpuUs, "us", help),
            Metric::counter(Counter::ObserverCpuUs, "us", watching),
            Metric::gauge(Counter::ClientPeakBytes, "bytes", "peak memory of mindful so far"),
        ];
        Self { status: kernel.proc.join("self/status"), source: SampledSource::new(HostSource::Client.name(), metrics) }
    }
}

impl Sampler for Client {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        // The calling thread also reads all other sources at boundaries.
        let [process, thread] = [cpu::of_process(), cpu::of_thread()].map(|used| Some(used.as_secs_f64() * 1e6));
        let status = value(&self.status).unwrap_or_default();
        let peak = named_values(&status).get("VmHWM").map(|kib| *kib as f64 * 1024.0);
        Ok(vec![process, thread, peak])
    }
}

/// Samples the CPU of the thread that reads settled counters, which is the calling one.
#[derive(Debug)]
pub(crate) struct SettledClient(SampledSource);

impl SettledClient {
    pub(crate) fn new() -> Self {
        let help = "CPU of the thread that reads the settled sources; part of `client_cpu`";
        let metrics = [Metric::counter(Counter::SettledObserverCpuUs, "us", help)];
        Self(SampledSource::new(HostSource::ClientSettled.name(), metrics).with(Scope::Host, Phase::Settled))
    }
}

impl Sampler for SettledClient {
    fn source(&self) -> &SampledSource {
        &self.0
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(vec![Some(cpu::of_thread().as_secs_f64() * 1e6)])
    }
}
