//! The table of plan keys: one row feeds the flag, the variable, the plan file and the help.

use crate::dataset::Extent;
use crate::plan::settings::{Bound, Key};
use crate::ranks::rank::MOST_RANKS;

/// Limit of sessions: each has a thread, and Linux allows a process about 16,000.
pub const MOST_SESSIONS: u32 = 15_000;
pub const MOST_SCHEMAS: u32 = 4_096;

const SESSIONS: Bound = Bound::Count(1, MOST_SESSIONS as u64);
const SCHEMAS: Bound = Bound::Count(1, MOST_SCHEMAS as u64);
const BLOCKS: Bound = Bound::Count(1, Extent::MOST_BLOCKS);
const RATIO: Bound = Bound::Number(1.0, 100.0);

pub const KEYS: &[Key] = &[
    Key::with_default("target", "URL", "embedded", "embedded, postgres://…, mysql://…, sqlite:FILE, raw:FILE").place(),
    Key::unset(
        "target_weights",
        "N,N,...",
        "Shares of several targets (--target given twice, or @FILE) in the sessions (default: equal)",
    )
    .one_value(),
    Key::unset("tag", "NAME", "Name to find the run by").one_value(),
    Key::unset(
        "price",
        "PRICE",
        "Cost of the target: '1.92 EUR' an hour, or 'compute 0.5 + storage 92/month EUR, DATE, SOURCE'",
    )
    .one_value(),
    Key::with_default("seed", "N", "1", "Seed of the layout, the keys and the mix of operations"),
    Key::unset("schemas", "N", "Number of schemas, one table each (default: as loaded, or 4)").bounded(SCHEMAS),
    Key::unset("scale", "SIZE", "Size of each schema in bytes or blocks (default: as loaded, or 256MiB)")
        .bounded(Bound::Extent),
    Key::with_default("scan_table", "SIZE", "0", "Size of an unindexed table in each schema, for full scans")
        .bounded(Bound::Extent),
    Key::with_default(
        "content",
        "KIND",
        "mixed",
        "Block contents: mixed (see --compress-ratio and --dedupe-ratio) or repeated (compresses far too well)",
    ),
    Key::unset(
        "compress_ratio",
        "RATIO",
        "Target compression ratio of a block, stored / compressed (default: short random rows)",
    )
    .bounded(RATIO),
    Key::with_default("dedupe_ratio", "RATIO", "1", "Target deduplication ratio, blocks / distinct blocks")
        .bounded(RATIO),
    Key::with_default("load_streams", "N", "2", "Number of schemas to load in parallel").bounded(Bound::Count(1, 256)),
    Key::unset("sessions", "N", "Number of sessions (default: 8, or schemas times threads)").bounded(SESSIONS),
    Key::unset("threads", "N", "Number of sessions per schema").bounded(SESSIONS),
    Key::with_default("warmup", "TIME", "3s", "Time before the measured window").bounded(Bound::ANY_TIME),
    Key::with_default("duration", "TIME", "30s", "Length of the measured window").bounded(Bound::SOME_TIME),
    Key::with_default("steady", "", "off", "Find the warm-up; measure until steady, a minute or more"),
    Key::with_default("steady_cap", "TIME", "10m", "Time limit for a step to become steady").bounded(Bound::SOME_TIME),
    Key::unset("ops", "N", "Number of operations per session, instead of --duration")
        .bounded(Bound::Count(1, 1_000_000_000_000)),
    Key::with_default("guard", "TIME", "1h", "Time limit for --ops; a run that exceeds it is incomplete")
        .bounded(Bound::SOME_TIME),
    Key::with_default("work_unit", "BLOCKS", "64", "Blocks that a read operation visits").bounded(BLOCKS),
    Key::with_default("update_pct", "PERCENT", "0", "Percentage of operations that update (0 to 100)"),
    Key::unset("update_work_unit", "BLOCKS", "Blocks that an update operation visits (default: as --work-unit)")
        .bounded(BLOCKS),
    Key::with_default("scan_pct", "PERCENT", "0", "Percentage of reads that are full scans (0 to 100)"),
    Key::with_default("redo", "KIND", "light", "Update narrow columns (light) or all columns (heavy)"),
    Key::with_default("commit", "WHEN", "each", "Commit after: each operation, N operations, or slice"),
    Key::with_default("commit_wait", "on|off", "on", "Wait at commit until the log is on storage"),
    Key::unset("hot_spot_size", "SIZE", "Size of the hot spot in each schema; see --hot-spot-share")
        .bounded(Bound::Extent),
    Key::with_default("hot_spot_offset", "SIZE", "0", "Offset of the hot spot in each schema").bounded(Bound::Extent),
    Key::with_default("hot_spot_share", "PERCENT", "33.33", "Percentage of operations in the hot spot (0 to 100)"),
    Key::with_default("hot_schema", "PERCENT", "0", "Percentage of all operations in schema 1 (0 to 100)"),
    Key::with_default("skew", "KIND", "uniform", "Keys: uniform, zipf:THETA, hotset:SIZE%,PCT%[,OPS]").one_value(),
    Key::unset("think_time", "RANGE", "Pauses between operations: MIN..MAX, exp:MEAN, 20%:MIN..MAX").one_value(),
    Key::unset("rate", "PER_S", "Open loop: arrivals per second (Poisson), or even:PER_S"),
    Key::with_default("loop", "WHERE", "server", "Run the work loop in the server or the client"),
    Key::with_default("access", "HOW", "index", "Read by index, bitmap, or scan of a whole schema"),
    Key::unset("node_exporter", "URL", "Read the server's host from node_exporter: http://HOST:9100[#DEVICE]").place(),
    Key::with_default(
        "device_trace",
        "auto|off",
        "auto",
        "Time single device requests for latency percentiles, as root: auto or off",
    ),
    Key::with_default(
        "facts",
        "auto|local",
        "auto",
        "Facts of the host: in a cloud, also ask its metadata service (auto), or never (local)",
    ),
    Key::unset("hook_before", "COMMAND", "Shell command to run before the sessions start").command(),
    Key::unset("hook_after", "COMMAND", "Shell command to run after the sessions stop").command(),
    Key::unset("hook_end", "COMMAND", "Shell command to run after the result is stored").command(),
    Key::with_default("hook_timeout", "TIME", "1m", "Time limit for a hook").command().bounded(Bound::SOME_TIME),
    Key::with_default("hook_failure", "POLICY", "stop", "After a failed hook: stop (the run is invalid) or warn")
        .command(),
    Key::with_default(
        "like",
        "KIT",
        "mindful",
        "Arithmetic of an older kit, to compare with its figures: slob, pgio or mindful",
    ),
    Key::unset("rank", "K", "Number of this rank, from 0 (default: from the launcher)")
        .bounded(Bound::Count(0, MOST_RANKS as u64 - 1))
        .one_value(),
    Key::unset("ranks", "N", "Number of ranks (default: from the launcher)")
        .bounded(Bound::Count(1, MOST_RANKS as u64))
        .one_value(),
    Key::unset("job", "NAME", "Name of the job that all ranks share (default: from the launcher, or the plan)")
        .one_value(),
    Key::unset("meet", "URL", "Where ranks meet: a database URL or dir:PATH (default: the target)").place(),
    Key::with_default("meet_timeout", "TIME", "2m", "Time limit for all ranks to join and to connect")
        .bounded(Bound::SOME_TIME)
        .one_value(),
];

/// Keys that control the order and the search of a sweep.
pub const SWEEP_KEYS: &[Key] = &[
    Key::with_default("repeat", "N", "1", "Number of passes, each in its own order").bounded(Bound::Count(1, 1_000)),
    Key::with_default("paired", "on|off", "off", "Pair the values of all keys, instead of combining each with each"),
    Key::unset("budget", "TIME", "Time limit; steps that do not fit are skipped and listed").bounded(Bound::SOME_TIME),
    Key::unset("max_iops_at", "OBJECTIVE", "Find the highest load that meets an objective, such as 'p99<=1ms'")
        .one_value(),
];
