//! The cost of one reading of each host source: `cargo run --release -p mindful-observe --features benchmarks --example
//! sampling_cost [PID]`. With the number of a process its descendants are the server.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use mindful_core::contract::description::HostView;
use mindful_observe::host_samplers;

const READINGS: usize = 200;

fn main() -> std::io::Result<()> {
    let server_pid = std::env::args().nth(1).and_then(|pid| pid.parse().ok());
    let data_paths = vec![PathBuf::from(".")];
    let (mut samplers, findings) = host_samplers(
        &HostView { local: true, server_pid, data_paths, in_process: server_pid.is_none(), ..HostView::default() },
        true,
        &[],
    );
    let mut out = std::io::stdout().lock();
    for finding in findings {
        writeln!(out, "{}: {}", finding.text, finding.evidence)?;
    }
    let mut sum = 0;
    for sampler in &mut samplers {
        let mut costs: Vec<u128> = Vec::with_capacity(READINGS);
        for _ in 0..READINGS {
            let begun = Instant::now();
            let read = sampler.read();
            costs.push(begun.elapsed().as_micros());
            if let Err(error) = read {
                writeln!(out, "{}: {error}", sampler.name())?;
            }
        }
        costs.sort_unstable();
        let median = costs[READINGS / 2];
        sum += median;
        writeln!(
            out,
            "{:<10} {:>4} metrics  median {median:>6} us  p99 {:>6} us",
            sampler.name(),
            sampler.metrics().len(),
            costs[READINGS * 99 / 100]
        )?;
    }
    writeln!(out, "a boundary costs {sum} us")
}
