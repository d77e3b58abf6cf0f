//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

mindful_core::finding_codes! {
    MYSQL_SYSDATE_STANDS = "mysql-sysdate-stands", Error;
    MYSQL_READ_ONLY = "mysql-read-only", Error;
    MYSQL_CONNECTIONS = "mysql-connections", Error;
    MYSQL_PREDICTED_HITS = "mysql-predicted-hits", Info;
    MYSQL_PAGE_CACHE = "mysql-page-cache", Info;
    MYSQL_ADAPTIVE_HASH = "mysql-adaptive-hash", Info;
    MYSQL_READ_AHEAD = "mysql-read-ahead", Info;
    MYSQL_CHANGE_BUFFERING = "mysql-change-buffering", Info;
    MYSQL_POOL_DUMP = "mysql-pool-dump", Info;
    MYSQL_QUERY_CACHE = "mysql-query-cache", Warning;
    MYSQL_COMMITS_DO_NOT_WAIT = "mysql-commits-do-not-wait", Warning;
    MYSQL_SYNC_BINLOG = "mysql-sync-binlog", Info;
    MYSQL_DOUBLEWRITE_OFF = "mysql-doublewrite-off", Info;
    MYSQL_IO_CAPACITY = "mysql-io-capacity", Info;
    MYSQL_FLUSH_NEIGHBORS = "mysql-flush-neighbors", Info;
    MYSQL_IO_TIMING_OFF = "mysql-io-timing-off", Info;
    MYSQL_STATEMENTS_LOGGED = "mysql-statements-logged", Info;
    MYSQL_OTHERS_ACTIVE = "mysql-others-active", Info;
    MYSQL_NAMESPACE_SHARED = "mysql-namespace-shared", Warning;
    MYSQL_PARTLY_SEEN = "mysql-partly-seen", Info;
}
