//! All kinds of findings that mindful itself raises, in the order of docs/findings.md, each with its usual severity. Those
//! of an engine alone stand with the engine.

crate::finding_codes! {
    // The run is not what was asked for.
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
    // The figure is not what it seems.
    PAGE_CACHE = "page-cache", Warning;
    CACHE_BELOW = "cache-below", Warning;
    FOREIGN_CPU = "foreign-cpu", Warning;
    STALL = "stall", Warning;
    SESSION_STALL = "session-stall", Warning;
    CLIFF = "cliff", Warning;
    FOREIGN_READS = "foreign-reads", Warning;
    LOG_BAND = "log-band", Warning;
    REPEATED_CONTENT = "repeated-content", Warning;
    PLAN_SHAPE = "plan-shape", Warning;
    LITTLE = "little", Warning;
    LOOP_OVERHEAD = "loop-overhead", Info;
    MIX = "mix", Warning;
    STEPS_NOT_ALIKE = "steps-not-alike", Warning;
    RATE_NOT_SUSTAINED = "rate-not-sustained", Warning;
    WRITES_WITHOUT_UPDATES = "writes-without-updates", Warning;
    PREFETCHED = "prefetched", Warning;
    UNASKED_READS = "unasked-reads", Warning;
    CONTENTION = "contention", Warning;
    SHORT_REPORT = "short-report", Warning;
    SESSIONS_NOT_BUSY = "sessions-not-busy", Warning;
    CUT_REPORT = "cut-report", Warning;
    COARSE_LATENCY = "coarse-latency", Info;
    BACKGROUND_WAITS = "background-waits", Info;
    COARSE_BUCKETS = "coarse-buckets", Info;
    RESTARTED = "restarted", Warning;
    NO_CLOCK = "no-clock", Info;
    COUNTED_WHILE_LAUNCHING = "counted-while-launching", Warning;
    PAGE_CACHE_UNKNOWN = "page-cache-unknown", Info;
    ORION_FIGURES = "orion-figures", Info;
    FIO_FIGURES = "fio-figures", Info;
    RATES_ALONE = "rates-alone", Info;
    SESSIONS_UNKNOWN = "sessions-unknown", Info;
    AUTOVACUUM = "autovacuum", Warning;
    FORCED_CHECKPOINTS = "forced-checkpoints", Warning;
    CLIENT_BOUND = "client-bound", Warning;
    CPU_STEAL = "cpu-steal", Warning;
    WAIT_SAMPLING_COST = "wait-sampling-cost", Info;
    CPU_THROTTLED = "cpu-throttled", Warning;
    PAGE_CACHE_DROPPED = "page-cache-dropped", Warning;
    SWAPPED_IN = "swapped-in", Warning;
    OUT_OF_MEMORY = "out-of-memory", Warning;
    HOOK_FAILED = "hook-failed", Warning;
    PART_OF_RUN = "part-of-run", Warning;
    // Good to know.
    LATE_START = "late-start", Info;
    FEW_OPERATIONS = "few-operations", Info;
    SLOW_FEW = "slow-few", Info;
    SMALL_SPAN = "small-span", Info;
    STILL_READING = "still-reading", Info;
    UNFAIR = "unfair", Info;
    ONE_CPU_FULL = "one-cpu-full", Info;
    NOT_PRECISE = "not-precise", Info;
    NOT_STEADY = "not-steady", Info;
    RATE_MOVED = "rate-moved", Info;
    UNEXPECTED_HITS = "unexpected-hits", Info;
    HOST_SATURATED = "host-saturated", Info;
    ONE_CORE_LEFT_OUT = "one-core-left-out", Info;
    LAYOUT_NOT_PROVEN = "layout-not-proven", Info;
    CLOCKS_APART = "clocks-apart", Info;
    // What cannot be seen.
    DEVICE_NOT_SEEN = "device-not-seen", Info;
    DEVICE_LATENCY_NOT_SEEN = "device-latency-not-seen", Info;
    HOST_NOT_SEEN = "host-not-seen", Info;
    PROCESS_IO_NOT_SEEN = "process-io-not-seen", Info;
    PROCESSES_NOT_SEEN = "processes-not-seen", Info;
    SOURCE_NOT_SEEN = "source-not-seen", Info;
    COUNTERS_DENIED = "counters-denied", Warning;
    // While a run goes on.
    CLOCK_STEP = "clock-step", Warning;
    SAMPLER_FAILED = "sampler-failed", Warning;
    SAMPLER_HUNG = "sampler-hung", Warning;
    // The host, before a run.
    BARRIERS_OFF = "barriers-off", Warning;
    BUSY_DEVICE = "busy-device", Info;
    BUSY_HOST = "busy-host", Info;
    CLOUD_VOLUME = "cloud-volume", Info;
    CLOCK_SLOW = "clock-slow", Warning;
    COMPRESSION_BELOW = "compression-below", Info;
    COPY_ON_WRITE = "copy-on-write", Info;
    CPU_GOVERNOR = "cpu-governor", Info;
    CPU_LIMIT = "cpu-limit", Info;
    DATA_IN_MEMORY = "data-in-memory", Warning;
    IO_LIMIT = "io-limit", Info;
    IO_SCHEDULER = "io-scheduler", Info;
    JOURNALLED_DATA = "journalled-data", Info;
    LAYERED_STORAGE = "layered-storage", Info;
    MEMORY_LIMIT = "memory-limit", Info;
    NETWORK_STORAGE = "network-storage", Info;
    NUMA = "numa", Info;
    READ_AHEAD = "read-ahead", Info;
    ROTATIONAL = "rotational", Info;
    SPACE_LOW = "space-low", Info;
    SWAP_IN_USE = "swap-in-use", Info;
    SYNCHRONOUS_MOUNT = "synchronous-mount", Info;
    THP_ALWAYS = "thp-always", Info;
    VOLATILE_WRITE_CACHE = "volatile-write-cache", Info;
    NO_SERVER_YET = "no-server-yet", Info;
    // SQLite and bare files, before a run.
    FILE_SHARED = "file-shared", Warning;
}
