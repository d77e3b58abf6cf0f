//! The terms of a page, each defined once.

use super::panels;

const TERMS: [(&str, &str); 9] = [
    ("blocks/s", "Blocks visited by operations, per second. The database's cache may have served them."),
    ("logical reads", "Requests of the database to its own cache."),
    ("physical reads", "Blocks that the database read from outside its cache."),
    ("storage IOPS", "Physical reads per second that are proven to come from storage, not from a cache of the system."),
    ("device reads", "Read requests that the device completed, of any process."),
    ("operation", "One select, update or scan of a session; it visits as many blocks as the work unit says."),
    ("p50, p99", "Half of the operations, or 99 % of them, took at most this time. p50 is the median."),
    ("knee", "The number of sessions above which more sessions add latency but little throughput."),
    ("window", "The part of a step in which every session worked. All figures are of the window."),
];

pub(super) fn list() -> String {
    let pairs = TERMS.map(|(term, definition)| (term.to_owned(), definition.to_owned()));
    format!("<details class=\"terms\">\n<summary>Terms on this page</summary>\n{}</details>\n", panels::list(&pairs))
}
