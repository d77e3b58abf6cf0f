//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

mindful_core::finding_codes! {
    ORA_EXPERIMENTAL = "ora-experimental", Info;
    ORA_VIEW_DENIED = "ora-view-denied", Warning;
    ORA_COMMITS_DO_NOT_WAIT = "ora-commits-do-not-wait", Warning;
    ORA_CACHE_HOLDS_ALL = "ora-cache-holds-all", Info;
    ORA_INMEMORY = "ora-inmemory", Warning;
    ORA_RESULT_CACHE = "ora-result-cache", Warning;
    ORA_NOT_LOGGED = "ora-not-logged", Info;
    ORA_STANDBY = "ora-standby", Info;
    ORA_STATEMENT_LEFT = "ora-statement-left", Info;
    ORA_TABLES_SHARED = "ora-tables-shared", Warning;
}
