//! Kinds of findings that this engine raises: its own, and those that engines share. docs/findings.md explains each.

pub(crate) use mindful_core::result::finding::codes::{
    ANSWERS_CACHED, COMMITS_DO_NOT_WAIT, CONNECTIONS, DATASET_SHARED, IO_TIMING_OFF, NOT_SEEN, OTHERS_ACTIVE,
    PAGE_CACHE_AHEAD, PREDICTED_HITS, SERVER_SETTING, WRITE_REFUSED,
};

mindful_core::finding_codes! {
    MYSQL_SYSDATE_STANDS = "mysql-sysdate-stands", Error;
}
