//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

mindful_core::finding_codes! {
    MYSQL_COUNTERS_DENIED = "mysql-counters-denied", Warning;
    MYSQL_PLAN_SHAPE = "mysql-plan-shape", Error;
}
