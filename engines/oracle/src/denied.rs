//! Views that the account may not read, or that this release does not have as they are asked.

use mindful_core::Result;
use mindful_core::event::Event;

use crate::codes;
use crate::connect::{Doing, explain};
use crate::driver::Failure;

/// The finding that a view tells nothing here; a failure that says nothing of the view is an error.
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
    Ok(Event::Finding(codes::ORA_VIEW_DENIED.finding(text, name)))
}
