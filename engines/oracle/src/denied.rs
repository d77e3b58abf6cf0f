//! Views that the account may not read.

use mindful_core::Result;
use mindful_core::event::Event;

use crate::codes;
use crate::connect::{Doing, explain};
use crate::driver::Failure;

/// The finding that a view may not be read; any other failure is an error.
pub fn denied(failure: &Failure, name: &str, views: &[&str]) -> Result<Event> {
    if !failure.lacks_right() {
        return Err(explain(failure, Doing::Prepare, &format!("reading {name}")));
    }
    let grants: Vec<String> = views.iter().map(|view| format!("GRANT SELECT ON {view} TO the account")).collect();
    let text = format!("The account may not read {name}, so its figures are not known: {}", grants.join("; "));
    Ok(Event::Finding(codes::ORA_VIEW_DENIED.finding(text, name)))
}
