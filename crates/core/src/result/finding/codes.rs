//! All kinds of findings that mindful itself raises, in the order of docs/findings.md, each with its usual severity. An
//! engine's own kinds are in its crate.

crate::finding_codes! {
    // The run differs from the plan.
    UNFINISHED = "unfinished", Error;
    INTERRUPTED = "interrupted", Error;
    FAILED = "failed", Error;
    SESSION_ERROR = "session-error", Error;
    NO_STEP = "no-step", Error;
    NO_WINDOW = "no-window", Error;
    SHORT_WINDOW = "short-window", Error;
    INCOMPLETE = "incomplete", Error;
    OBJECTIVE_UNDECIDED = "objective-undecided", Error;
    LAYOUT = "layout", Error;
    SELF_PROOF_FAILED = "self-proof-failed", Error;
    EDITED = "edited", Error;
    // The figure can mislead.
    SETTING_CHANGED = "setting-changed", Warning;
    LAYOUT_CHANGED = "layout-changed", Warning;
    COUNTERS_RESET = "counters-reset", Warning;
    PAGE_CACHE = "page-cache", Warning;
    HOLES = "holes", Warning;
    CACHE_BELOW = "cache-below", Warning;
    LEVELS_DISAGREE = "levels-disagree", Warning;
    NOT_DURABLE = "not-durable", Warning;
    FOREIGN_CPU = "foreign-cpu", Warning;
    STALL = "stall", Warning;
    SESSION_STALL = "session-stall", Warning;
    RATE_SWINGS = "rate-swings", Warning;
    CLIFF = "cliff", Warning;
    FOREIGN_READS = "foreign-reads", Warning;
    FOREIGN_WRITES = "foreign-writes", Warning;
    LOG_BAND = "log-band", Warning;
    REPEATED_CONTENT = "repeated-content", Warning;
    PLAN_SHAPE = "plan-shape", Warning;
    LITTLE = "little", Warning;
    TARGETS_SHARE_SERVER = "targets-share-server", Warning;
    LOOP_OVERHEAD = "loop-overhead", Info;
    MIX = "mix", Warning;
    STEPS_NOT_ALIKE = "steps-not-alike", Warning;
    RATE_NOT_SUSTAINED = "rate-not-sustained", Warning;
    WRITES_WITHOUT_UPDATES = "writes-without-updates", Warning;
    PREFETCHED = "prefetched", Warning;
    READ_PAST_CACHE = "read-past-cache", Warning;
    COMMITS_UNPROVEN = "commits-unproven", Warning;
    UNASKED_READS = "unasked-reads", Warning;
    CONTENTION = "contention", Warning;
    IMPORTED_DOUBT = "imported-doubt", Warning;
    IMPORTED_FIGURES = "imported-figures", Info;
    AUTOVACUUM = "autovacuum", Warning;
    FORCED_CHECKPOINTS = "forced-checkpoints", Warning;
    CLIENT_BOUND = "client-bound", Warning;
    NETWORK_FULL = "network-full", Warning;
    CPU_STEAL = "cpu-steal", Warning;
    WAIT_SAMPLING_COST = "wait-sampling-cost", Info;
    CPU_THROTTLED = "cpu-throttled", Warning;
    PAGE_CACHE_DROPPED = "page-cache-dropped", Warning;
    SWAPPED_IN = "swapped-in", Warning;
    OUT_OF_MEMORY = "out-of-memory", Warning;
    HOOK_FAILED = "hook-failed", Warning;
    PART_OF_RUN = "part-of-run", Warning;
    SELF_PROOF_MISSING = "self-proof-missing", Warning;
    // Information.
    LATE_START = "late-start", Info;
    FEW_OPERATIONS = "few-operations", Info;
    SLOW_FEW = "slow-few", Info;
    CLOCK_COST = "clock-cost", Info;
    SMALL_SPAN = "small-span", Info;
    STORAGE_CAP = "storage-cap", Info;
    STORAGE_FILTERS = "storage-filters", Info;
    STORAGE_CACHE = "storage-cache", Info;
    STILL_READING = "still-reading", Info;
    UNFAIR = "unfair", Info;
    ONE_CPU_FULL = "one-cpu-full", Info;
    NOT_PRECISE = "not-precise", Info;
    NOT_STEADY = "not-steady", Info;
    RATE_MOVED = "rate-moved", Info;
    UNEXPECTED_HITS = "unexpected-hits", Info;
    HOST_SATURATED = "host-saturated", Info;
    LEVEL_LEFT_OUT = "level-left-out", Info;
    LAYOUT_NOT_PROVEN = "layout-not-proven", Warning;
    CLOCKS_APART = "clocks-apart", Info;
    TARGETS_SHARE_HOST = "targets-share-host", Info;
    // Unobservable parts.
    NOT_SEEN = "not-seen", Info;
    COUNTERS_DENIED = "counters-denied", Warning;
    // During a run.
    CLOCK_RATE = "clock-rate", Warning;
    CLOCK_STEP = "clock-step", Warning;
    SAMPLER_FAILED = "sampler-failed", Warning;
    // The host, before a run.
    BARRIERS_OFF = "barriers-off", Warning;
    BUSY_DEVICE = "busy-device", Info;
    BUSY_HOST = "busy-host", Info;
    STORAGE_LAYER = "storage-layer", Info;
    CLOCK_SLOW = "clock-slow", Warning;
    HOST_SETTING = "host-setting", Info;
    DATA_IN_MEMORY = "data-in-memory", Warning;
    SPACE_LOW = "space-low", Info;
    NO_SERVER_YET = "no-server-yet", Info;
    // SQLite and bare files, before a run.
    DATASET_SHARED = "dataset-shared", Warning;
    // A server, before a run.
    WRITE_REFUSED = "write-refused", Error;
    CONNECTIONS = "connections", Error;
    PREDICTED_HITS = "predicted-hits", Info;
    PAGE_CACHE_AHEAD = "page-cache-ahead", Info;
    CACHE_ORDER = "cache-order", Info;
    SERVER_SETTING = "server-setting", Info;
    IO_TIMING_OFF = "io-timing-off", Info;
    COMMITS_DO_NOT_WAIT = "commits-do-not-wait", Warning;
    REPLICATION = "replication", Info;
    CHECKPOINTS_AHEAD = "checkpoints-ahead", Info;
    OTHERS_ACTIVE = "others-active", Info;
    ANSWERS_CACHED = "answers-cached", Warning;
}
