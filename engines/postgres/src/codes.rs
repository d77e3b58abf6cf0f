//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

mindful_core::finding_codes! {
    PG_READ_ONLY = "pg-read-only", Error;
    PG_NO_CREATE = "pg-no-create", Error;
    PG_NO_TEMP = "pg-no-temp", Error;
    PG_NO_CHECKPOINT = "pg-no-checkpoint", Info;
    PG_PREDICTED_HITS = "pg-predicted-hits", Info;
    PG_PAGE_CACHE_AHEAD = "pg-page-cache-ahead", Info;
    PG_READ_AHEAD = "pg-read-ahead", Info;
    PG_IDLE_SETTINGS = "pg-idle-settings", Info;
    PG_NO_CHECKSUMS = "pg-no-checksums", Info;
    PG_NO_HUGE_PAGES = "pg-no-huge-pages", Info;
    PG_FSYNC_OFF = "pg-fsync-off", Warning;
    PG_FULL_PAGE_WRITES_OFF = "pg-full-page-writes-off", Info;
    PG_COMMITS_DO_NOT_WAIT = "pg-commits-do-not-wait", Warning;
    PG_SYNCHRONOUS_STANDBY = "pg-synchronous-standby", Info;
    PG_ARCHIVING = "pg-archiving", Info;
    PG_FORCED_CHECKPOINTS = "pg-forced-checkpoints", Info;
    PG_CHECKPOINT_TIMEOUT = "pg-checkpoint-timeout", Info;
    PG_AUTOVACUUM = "pg-autovacuum", Info;
    PG_OTHERS_ACTIVE = "pg-others-active", Info;
    PG_HELD_HORIZON = "pg-held-horizon", Warning;
    PG_SLOTS = "pg-slots", Info;
    PG_CONNECTIONS = "pg-connections", Error;
    PG_SESSIONS_MEMORY = "pg-sessions-memory", Warning;
    PG_NAMESPACE_SHARED = "pg-namespace-shared", Warning;
    PG_IO_TIMING_OFF = "pg-io-timing-off", Info;
    PG_STATEMENTS_LOGGED = "pg-statements-logged", Info;
    PG_LIBRARIES = "pg-libraries", Info;
    PG_JIT = "pg-jit", Info;
    PG_PARTLY_SEEN = "pg-partly-seen", Info;
}
