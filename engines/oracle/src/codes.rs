//! Kinds of findings that this engine raises: its own, and those that engines share. docs/findings.md explains each.

use mindful_core::Result;
use mindful_core::contract::event::Event;
pub(crate) use mindful_core::result::finding::codes::{
    ANSWERS_CACHED, COMMITS_DO_NOT_WAIT, COUNTERS_DENIED, DATASET_SHARED, PREDICTED_HITS, REPLICATION, SERVER_SETTING,
};

use crate::connect::driver::Failure;
use crate::connect::{Doing, explain};

mindful_core::finding_codes! {
    ORA_EXPERIMENTAL = "ora-experimental", Info;
    ORA_STATEMENT_LEFT = "ora-statement-left", Info;
}

/// The finding that figures of a view are unknown: the account may not read it, or this release lacks a column. Any other
/// failure is an error.
pub(crate) fn denied(failure: &Failure, name: &str, views: &[&str]) -> Result<Event> {
    let text = if failure.lacks_column() {
        format!(
            "This release lacks columns of {name} (ORA-00904), so its figures are unknown. `mindful doctor` writes a bundle \
             for a bug report"
        )
    } else if failure.lacks_right() {
        let grants: Vec<String> = views.iter().map(|view| format!("GRANT SELECT ON {view} TO the account")).collect();
        format!("The account cannot read {name}, so its figures are unknown: {}", grants.join("; "))
    } else {
        return Err(explain(failure, Doing::Prepare, &format!("reading {name}")));
    };
    Ok(Event::Finding(COUNTERS_DENIED.finding(text, name)))
}
