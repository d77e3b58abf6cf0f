//! CPU and memory of mindful itself, and the part used for reading sources.

use mindful_core::contract::metric::{Counter, HostSource, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_host::kernel_file::{named_values, value};
use mindful_host::{Kernel, cpu};

/// Samples the CPU of this process (all its threads, no children) and its peak memory so far.
pub(crate) fn client(kernel: &Kernel) -> Box<dyn Sampler> {
    let help = "user and system CPU of mindful itself, without the processes it started";
    let watching = "CPU of the thread that reads the sources of boundaries; part of it";
    let metrics = [
        Metric::counter(Counter::ClientCpuUs, "us", help),
        Metric::counter(Counter::ObserverCpuUs, "us", watching),
        Metric::gauge(Counter::ClientPeakBytes, "bytes", "peak memory of mindful so far"),
    ];
    let status = kernel.proc.join("self/status");
    SampledSource::new(HostSource::Client.name(), metrics).read_by(move || {
        // The calling thread also reads all other sources at boundaries.
        let [process, thread] = [cpu::of_process(), cpu::of_thread()].map(|used| Some(used.as_secs_f64() * 1e6));
        let status = value(&status).unwrap_or_default();
        let peak = named_values(&status).get("VmHWM").map(|kib| *kib as f64 * 1024.0);
        Ok(vec![process, thread, peak])
    })
}

/// Samples the CPU of the thread that reads settled counters, which is the calling one.
pub(crate) fn settled_client() -> Box<dyn Sampler> {
    let help = "CPU of the thread that reads the settled sources; part of `client_cpu`";
    let metrics = [Metric::counter(Counter::SettledObserverCpuUs, "us", help)];
    let source = SampledSource::new(HostSource::ClientSettled.name(), metrics).with(Scope::Host, Phase::Settled);
    source.read_by(|| Ok(vec![Some(cpu::of_thread().as_secs_f64() * 1e6)]))
}
