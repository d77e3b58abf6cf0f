//! The facts of this host and what the doctor says of it: `cargo run -p mindful-observe --example doctor [PATH]`.

use std::io::Write;
use std::path::PathBuf;

use mindful_core::engine::HostView;
use mindful_observe::{environment, host_checks};

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).map_or_else(|| PathBuf::from("."), PathBuf::from);
    let host = HostView { local: true, server_pid: None, data_paths: vec![path], in_process: true };
    let mut out = std::io::stdout().lock();
    for (name, value) in environment(&host) {
        writeln!(out, "{name:<28} {value}")?;
    }
    for finding in host_checks(&host) {
        writeln!(out, "\n{} ({})\n  {}", finding.code, finding.evidence, finding.text)?;
    }
    Ok(())
}
