//! Kinds of findings that this engine alone raises; docs/findings.md tells of each.

use mindful_core::Result;
use mindful_core::contract::event::Event;

use crate::connect::driver::Failure;
use crate::connect::{Doing, explain};

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

/// The finding that a view tells nothing here, because the account may not read it or this release does not have it as asked; a failure that says nothing of the view is an error.
pub fn denied(failure: &Failure, name: &str, views: &[&str]) -> Result<Event> {
    let text = if failure.lacks_column() {
        format!(
            "This release has not the columns of {name} that are asked for (ORA-00904), so its figures are not known: \
             `mindful doctor` writes a bundle for a report"
        )
    } else if failure.lacks_right() {
        let grants: Vec<String> = views.iter().map(|view| format!("GRANT SELECT ON {view} TO the account")).collect();
        format!("The account may not read {name}, so its figures are not known: {}", grants.join("; "))
    } else {
        return Err(explain(failure, Doing::Prepare, &format!("reading {name}")));
    };
    Ok(Event::Finding(ORA_VIEW_DENIED.finding(text, name)))
}
