//! The table of plan keys: one row feeds the flag, the variable, the plan file and the help.

use crate::dataset::Extent;
use crate::plan::bound::Bound;
use crate::plan::settings::Key;
use crate::ranks::rank::MOST_RANKS;

/// Most sessions a run may have: each has a thread, and Linux gives a process room for some 16,000 of them.
pub const MOST_SESSIONS: u32 = 15_000;
/// Most schemas a dataset may have.
pub const MOST_SCHEMAS: u32 = 4_096;

/// Sessions of a run or a schema.
const SESSIONS: Bound = Bound::Count(1, MOST_SESSIONS as u64);
/// Schemas of a dataset.
const SCHEMAS: Bound = Bound::Count(1, MOST_SCHEMAS as u64);
/// Blocks an operation visits.
const BLOCKS: Bound = Bound::Count(1, Extent::MOST_BLOCKS);
/// Stored bytes by what is left of them.
const RATIO: Bound = Bound::Number(1.0, 100.0);

/// All plan keys, in the order they are shown.
pub const KEYS: &[Key] = &[
    Key::with_default(
        "target",
        "URL",
        "embedded",
        "What to measure: embedded, postgres://…, sqlite:PATH, raw:PATH, null:; `run` takes several, or @FILE with one a line",
    )
    .place(),
    Key::unset("target_weights", "N,N,...", "Shares of several targets in the sessions (default: even)").one_value(),
    Key::unset("tag", "NAME", "A name to find the run by").one_value(),
    Key::unset("price", "PRICE", "What an hour of the target costs, such as '1.92 EUR', for figures per unit of money")
        .one_value(),
    Key::with_default("seed", "N", "1", "Seed of layout, keys and mixes: the same seed draws the same keys"),
    Key::unset("schemas", "N", "Schemas, each a table with its index (default: what is loaded, or 4)").bounded(SCHEMAS),
    Key::unset(
        "scale",
        "SIZE",
        "Size of each schema, 64MiB or a number of blocks (default: what is loaded, or 256MiB)",
    )
    .bounded(Bound::Extent),
    Key::with_default("scan_table", "SIZE", "0", "Size of an unindexed table in each schema for full scans")
        .bounded(Bound::Extent),
    Key::with_default(
        "content",
        "KIND",
        "mixed",
        "Stored bytes: mixed (see the ratios) or repeated (compresses absurdly)",
    ),
    Key::unset(
        "compress_ratio",
        "RATIO",
        "Stored bytes by compressed bytes that blocks shall have (default: short random rows)",
    )
    .bounded(RATIO),
    Key::with_default("dedupe_ratio", "RATIO", "1", "Blocks by distinct blocks that the content shall have")
        .bounded(RATIO),
    Key::with_default("load_streams", "N", "2", "Schemas loaded side by side").bounded(Bound::Count(1, 256)),
    Key::unset("sessions", "N", "Sessions, spread evenly over the schemas (default: 8, or schemas times threads)")
        .bounded(SESSIONS),
    Key::unset("threads", "N", "Sessions in each schema").bounded(SESSIONS),
    Key::with_default("warmup", "TIME", "3s", "Time before the measured window").bounded(Bound::ANY_TIME),
    Key::with_default("duration", "TIME", "30s", "Length of the measured window").bounded(Bound::SOME_TIME),
    Key::with_default(
        "steady",
        "",
        "off",
        "Measure until it is steady: the warm-up is found, and a window of at least --duration and a minute is kept",
    ),
    Key::with_default("steady_cap", "TIME", "10m", "Longest time a step may take to become steady")
        .bounded(Bound::SOME_TIME),
    Key::unset("ops", "N", "Operations for each session instead of a duration")
        .bounded(Bound::Count(1, 1_000_000_000_000)),
    Key::with_default(
        "guard",
        "TIME",
        "1h",
        "Longest time a fixed amount of work may take; beyond it the run is incomplete",
    )
    .bounded(Bound::SOME_TIME),
    Key::with_default("work_unit", "BLOCKS", "64", "Blocks a read operation visits").bounded(BLOCKS),
    Key::with_default("update_pct", "PERCENT", "0", "Share of operations that are updates, 0 to 100"),
    Key::unset("update_work_unit", "BLOCKS", "Blocks an update operation visits (default: as work_unit)")
        .bounded(BLOCKS),
    Key::with_default("scan_pct", "PERCENT", "0", "Share of reads that are full scans of the scan table"),
    Key::with_default(
        "redo",
        "KIND",
        "light",
        "What an update changes: light (narrow columns) or heavy (all of the row)",
    ),
    Key::with_default("commit", "WHEN", "each", "When updates commit: each operation, every N (a number), or slice"),
    Key::with_default("commit_wait", "on|off", "on", "Whether a commit waits until the log is on storage"),
    Key::unset("hot_spot_size", "SIZE", "Size of a window of each schema that takes hot_spot_share of its operations")
        .bounded(Bound::Extent),
    Key::with_default("hot_spot_offset", "SIZE", "0", "Where the hot spot begins").bounded(Bound::Extent),
    Key::with_default("hot_spot_share", "PERCENT", "33.33", "Share of operations that go to the hot spot"),
    Key::with_default("hot_schema", "PERCENT", "0", "Share of all sessions' operations that go to schema 1"),
    Key::with_default(
        "skew",
        "KIND",
        "uniform",
        "Spread of keys: uniform, zipf:THETA, hotset:FRACTION%,PROBABILITY%[,OPS to move on]",
    )
    .one_value(),
    Key::unset("think_time", "RANGE", "Pauses: MIN..MAX or exp:MEAN, with a share in front if not all: 20%:10ms..50ms")
        .one_value(),
    Key::unset("rate", "PER_S", "Open loop: arrivals per second, Poisson; even:PER_S for a steady beat"),
    Key::with_default("loop", "WHERE", "server", "Where the work loop runs: server or client"),
    Key::with_default(
        "access",
        "index|bitmap|scan",
        "index",
        "How reads reach their blocks: index (the method), bitmap, or scan (each reads a whole schema)",
    ),
    Key::unset(
        "node_exporter",
        "URL",
        "Prometheus node_exporter of the server's host: http://HOST:9100, with #DEVICE where it cannot be known",
    )
    .place(),
    Key::with_default(
        "device_trace",
        "auto|off",
        "auto",
        "Whether single requests are timed at the device, where the kernel lets us, for its latency percentiles",
    ),
    Key::unset("hook_before", "COMMAND", "Shell command run before the sessions start, waited for").command(),
    Key::unset("hook_after", "COMMAND", "Shell command run when the sessions have stopped, waited for").command(),
    Key::unset("hook_end", "COMMAND", "Shell command run when the result is stored, waited for").command(),
    Key::with_default("hook_timeout", "TIME", "1m", "Longest time a hook may take").command().bounded(Bound::SOME_TIME),
    Key::with_default("hook_failure", "POLICY", "stop", "What a failed hook does: stop (the run is invalid) or warn")
        .command(),
    Key::with_default(
        "like",
        "KIT",
        "mindful",
        "Arithmetic of an older kit for comparison with old figures: slob or pgio",
    ),
    Key::unset("rank", "K", "Which of the ranks of a run this process is, from 0 (default: as its launcher says)")
        .bounded(Bound::Count(0, MOST_RANKS as u64 - 1))
        .one_value(),
    Key::unset("ranks", "N", "How many ranks share the sessions of the run (default: as its launcher says)")
        .bounded(Bound::Count(1, MOST_RANKS as u64))
        .one_value(),
    Key::unset("job", "NAME", "Name under which ranks meet, where their launcher has none (default: by the plan)")
        .one_value(),
    Key::unset("meet", "URL", "Where ranks meet: a database by its URL, or dir:PATH (default: in the target)").place(),
    Key::with_default("meet_timeout", "TIME", "2m", "How long a rank waits for the others to come and to connect")
        .bounded(Bound::SOME_TIME)
        .one_value(),
];

/// Keys that decide how a sweep goes about its points.
pub const SWEEP_KEYS: &[Key] = &[
    Key::with_default("repeat", "N", "1", "How often each point is measured, in orders of their own")
        .bounded(Bound::Count(1, 1_000)),
    Key::with_default(
        "paired",
        "on|off",
        "off",
        "Take the first values of all keys together, then the second ones, instead of the full grid",
    ),
    Key::unset("budget", "TIME", "Longest time the sweep may take; what does not fit is left out and named")
        .bounded(Bound::SOME_TIME),
    Key::unset("max_iops_at", "OBJECTIVE", "Search the highest load that meets a latency objective: 'p99<=1ms'")
        .one_value(),
];
