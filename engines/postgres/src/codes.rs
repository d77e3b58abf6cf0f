//! Kinds of findings that this engine raises: its own, and those that engines share. docs/findings.md explains each.

pub(crate) use mindful_core::result::finding::codes::{
    CHECKPOINTS_AHEAD, COMMITS_DO_NOT_WAIT, CONNECTIONS, DATASET_SHARED, IO_TIMING_OFF, NOT_SEEN, OTHERS_ACTIVE,
    PAGE_CACHE_AHEAD, PREDICTED_HITS, REPLICATION, SERVER_SETTING, WRITE_REFUSED,
};

mindful_core::finding_codes! {
    PG_IDLE_SETTINGS = "pg-idle-settings", Info;
    PG_FSYNC_OFF = "pg-fsync-off", Warning;
    PG_AUTOVACUUM = "pg-autovacuum", Info;
    PG_HELD_HORIZON = "pg-held-horizon", Warning;
    PG_SESSIONS_MEMORY = "pg-sessions-memory", Warning;
}
