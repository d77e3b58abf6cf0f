//! Which database, which host.

use super::contents::{Identity, Report};
use crate::number;
use crate::tables::{Table, known};

/// Completes the host from its own statistics if the head lacks it; the bytes of its memory have more digits.
pub(super) fn complete(report: &mut Report) {
    let Report { identity, host, .. } = report;
    let listed = |name: &str| host.get(name).copied().filter(|count| *count > 0.0);
    set(&mut identity.cpus, listed("NUM_CPUS"));
    set(&mut identity.cores, listed("NUM_CPU_CORES"));
    set(&mut identity.sockets, listed("NUM_CPU_SOCKETS"));
    identity.memory_gib =
        listed("PHYSICAL_MEMORY_BYTES").map(|bytes| bytes / f64::from(1 << 30)).or(identity.memory_gib);
}

pub(super) fn read(table: &Table, report: &mut Report) {
    let identity = &mut report.identity;
    let rows = || table.rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
    let identifies = ["db id", "inst num", "container name", "cpus"].iter().any(|name| table.named(name).is_some());
    if let Some(row) = rows().next().filter(|_| identifies) {
        from_row(table, row, identity);
    }
    if table.column(|name| name.contains("begin snap")).is_some() && identity.release.is_none() {
        identity.release = table.named("release").and_then(|at| Some(known(&rows().next()?[at])?.to_owned()));
        identity.cluster = Some(true);
        let mut hosts: Vec<_> =
            table.named("host").map_or_else(Vec::new, |at| rows().filter_map(|row| known(&row[at])).collect());
        let all = hosts.len();
        hosts.sort_unstable();
        hosts.dedup();
        report.instances_share_hosts = hosts.len() < all;
        set(&mut identity.host, Some(hosts.join(", ")).filter(|hosts| !hosts.is_empty()));
    }
    if let Some(row) = rows().next().filter(|_| table.title.starts_with("Database Summary")) {
        of_cluster(table, row, identity);
    }
    for row in rows() {
        let line = row.join(" ");
        let after = |label: &str| line.split_once(label)?.1.split_whitespace().next().map(str::to_owned);
        set(&mut identity.block_bytes, after("Std Block Size:").and_then(|size| number::bytes(&size, 1.0)));
        set(&mut identity.cache_bytes, after("Buffer Cache:").and_then(|size| number::bytes(&size, 1.0)));
        set(&mut identity.block_bytes, after("db_block_size:").and_then(|size| number::bytes(&size, 1.0)));
        // Statspack of 10g has its host on one line.
        set(&mut identity.host, after("Host Name:"));
        let memory_mib = after("Phys Memory (MB):").and_then(|mib| number::count(&mib));
        set(&mut identity.memory_gib, memory_mib.map(|mib| mib.value / 1024.0));
        set(&mut identity.cpus, after("Num CPUs:").and_then(|cpus| Some(number::count(&cpus)?.value)));
    }
}

/// The summary of a cluster's report; its names may be below others: `Database Name`.
fn of_cluster(table: &Table, row: &[String], identity: &mut Identity) {
    let cell = |wanted: &str| {
        let at = table.column(|name| name == wanted || name == format!("database {wanted}"))?;
        known(&row[at]).map(str::to_owned)
    };
    set(&mut identity.database, cell("name"));
    set(&mut identity.block_bytes, cell("block size").and_then(|size| number::bytes(&size, 1.0)));
}

fn set<T>(into: &mut Option<T>, found: Option<T>) {
    if into.is_none() {
        *into = found;
    }
}

fn from_row(table: &Table, row: &[String], identity: &mut Identity) {
    let cell = |names: &[&str]| {
        let at = table.column(|name| names.contains(&name))?;
        known(&row[at]).map(str::to_owned)
    };
    let figure = |names: &[&str]| Some(number::count(&cell(names)?)?.value);
    // Statspack has a heading of two words above two columns.
    let of_host = table.named("cpus").is_some();
    set(&mut identity.database, cell(&["db name", "database"]).or_else(|| cell(&["name"]).filter(|_| !of_host)));
    set(&mut identity.instance, cell(&["instance"]));
    set(&mut identity.instance_number, cell(&["inst num"]));
    set(&mut identity.release, cell(&["release"]));
    set(&mut identity.cluster, cell(&["rac", "cluster", "ops"]).map(|cell| cell.eq_ignore_ascii_case("yes")));
    set(&mut identity.container, cell(&["container name"]).filter(|_| table.named("open time").is_some()));
    set(&mut identity.host, cell(&["host name", "host"]).or_else(|| cell(&["name"]).filter(|_| of_host)));
    set(&mut identity.platform, cell(&["platform"]));
    set(&mut identity.block_bytes, figure(&["block size"]));
    if !of_host || table.title == "Host CPU" {
        return;
    }
    set(&mut identity.cpus, figure(&["cpus"]));
    let positive = |names: &[&str]| figure(names).filter(|count| *count > 0.0);
    set(&mut identity.cores, positive(&["cores"]));
    set(&mut identity.sockets, positive(&["sockets"]));
    set(&mut identity.memory_gib, figure(&["memory(gb)", "memory (gb)", "memory (g)"]));
}
