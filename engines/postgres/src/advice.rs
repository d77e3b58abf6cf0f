//! What a finding of the analysis means on PostgreSQL, and the line that changes it.

use std::collections::BTreeMap;

use mindful_core::finding::{Code, codes};

/// Advice by the code of the finding.
const ADVICE: &[(Code, &str)] = &[
    (
        codes::AUTOVACUUM,
        "On PostgreSQL it is autovacuum: vacuum before the run, or ALTER SYSTEM SET autovacuum = off; SELECT \
         pg_reload_conf() while it goes on.",
    ),
    (
        codes::FORCED_CHECKPOINTS,
        "ALTER SYSTEM SET max_wal_size = …; SELECT pg_reload_conf(), or find who calls CHECKPOINT.",
    ),
    (codes::LOG_BAND, "Look at the share of HOT updates: pg_stat_user_tables tells n_tup_hot_upd beside n_tup_upd."),
    (
        codes::PREFETCHED,
        "Find who scans (pg_stat_activity), or set io_combine_limit = 8kB and effective_io_concurrency = 0.",
    ),
];

/// All of it, for the record.
pub fn all() -> BTreeMap<String, String> {
    ADVICE.iter().map(|(code, text)| (code.name().to_owned(), (*text).to_owned())).collect()
}
