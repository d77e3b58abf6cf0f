//! The table of plan keys: one row feeds the flag, the variable, the plan file and the help.

use crate::settings::{Key, Trust};

const fn key(name: &'static str, value: &'static str, default: &'static str, help: &'static str) -> Key {
    Key { name, value, default: Some(default), help, trust: Trust::Value }
}

const fn unset(name: &'static str, value: &'static str, help: &'static str) -> Key {
    Key { name, value, default: None, help, trust: Trust::Value }
}

/// All plan keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    key("target", "URL", "embedded", "What to measure: embedded, postgres://…, sqlite:PATH, raw:PATH, null:").place(),
    unset("tag", "NAME", "A name to find the run by"),
    key("seed", "N", "1", "Seed of layout, keys and mixes: the same seed draws the same keys"),
    unset("schemas", "N", "Schemas, each a table with its index (default: what is loaded, or 4)"),
    unset("scale", "SIZE", "Size of each schema, 64MiB or a number of blocks (default: what is loaded, or 256MiB)"),
    key("scan_table", "SIZE", "0", "Size of an unindexed table in each schema for full scans"),
    key("content", "KIND", "mixed", "Stored bytes: mixed (see the ratios) or repeated (compresses absurdly)"),
    unset(
        "compress_ratio",
        "RATIO",
        "Stored bytes by compressed bytes that blocks shall have (default: short random rows)",
    ),
    key("dedupe_ratio", "RATIO", "1", "Blocks by distinct blocks that the content shall have"),
    key("load_streams", "N", "2", "Schemas loaded side by side"),
    unset("sessions", "N", "Sessions, spread evenly over the schemas (default: 8, or schemas times threads)"),
    unset("threads", "N", "Sessions in each schema"),
    key("warmup", "TIME", "3s", "Time before the measured window"),
    key("duration", "TIME", "30s", "Length of the measured window"),
    key(
        "steady",
        "",
        "off",
        "Measure until it is steady: the warm-up is found, and a window of at least --duration and a minute is kept",
    ),
    key("steady_cap", "TIME", "10m", "Longest time a step may take to become steady"),
    unset("ops", "N", "Operations for each session instead of a duration"),
    key("guard", "TIME", "1h", "Longest time a fixed amount of work may take; beyond it the run is incomplete"),
    key("work_unit", "BLOCKS", "64", "Blocks a read operation visits"),
    key("update_pct", "PERCENT", "0", "Share of operations that are updates, 0 to 100"),
    unset("update_work_unit", "BLOCKS", "Blocks an update operation visits (default: as work_unit)"),
    key("scan_pct", "PERCENT", "0", "Share of reads that are full scans of the scan table"),
    key("redo", "KIND", "light", "What an update changes: light (narrow columns) or heavy (all of the row)"),
    key("commit", "WHEN", "each", "When updates commit: each operation, every N (a number), or slice"),
    key("commit_wait", "on|off", "on", "Whether a commit waits until the log is on storage"),
    unset("hot_spot_size", "SIZE", "Size of a window of each schema that takes hot_spot_share of its operations"),
    key("hot_spot_offset", "SIZE", "0", "Where the hot spot begins"),
    key("hot_spot_share", "PERCENT", "33.33", "Share of operations that go to the hot spot"),
    key("hot_schema", "PERCENT", "0", "Share of all sessions' operations that go to schema 1"),
    key(
        "skew",
        "KIND",
        "uniform",
        "Spread of keys: uniform, zipf:THETA, hotset:FRACTION%,PROBABILITY%[,OPS to move on]",
    ),
    unset("think_time", "RANGE", "Pauses: MIN..MAX or exp:MEAN, with a share in front if not all: 20%:10ms..50ms"),
    unset("rate", "PER_S", "Open loop: arrivals per second, Poisson; even:PER_S for a steady beat"),
    key("loop", "WHERE", "server", "Where the work loop runs: server or client"),
    unset(
        "node_exporter",
        "URL",
        "Prometheus node_exporter of the server's host: http://HOST:9100, with #DEVICE where it cannot be told",
    )
    .place(),
    key(
        "device_trace",
        "auto|off",
        "auto",
        "Whether single requests are timed at the device, where the kernel lets us, for its latency percentiles",
    ),
    unset("hook_before", "COMMAND", "Shell command run before the sessions start, waited for").command(),
    unset("hook_after", "COMMAND", "Shell command run when the sessions have stopped, waited for").command(),
    unset("hook_end", "COMMAND", "Shell command run when the result is stored, waited for").command(),
    key("hook_timeout", "TIME", "1m", "Longest time a hook may take").command(),
    key("hook_failure", "POLICY", "stop", "What a failed hook does: stop (the run is invalid) or warn").command(),
    key("like", "KIT", "mindful", "Arithmetic of an older kit for comparison with old figures: slob or pgio"),
];

/// Keys that decide how a sweep goes about its points.
pub const SWEEP_KEYS: &[Key] = &[
    key("repeat", "N", "1", "How often each point is measured, in orders of their own"),
    key(
        "paired",
        "on|off",
        "off",
        "Take the first values of all keys together, then the second ones, instead of the full grid",
    ),
    unset("budget", "TIME", "Longest time the sweep may take; what does not fit is left out and named"),
    unset("max_iops_at", "OBJECTIVE", "Search the highest load that meets a latency objective: 'p99<=1ms'"),
];
