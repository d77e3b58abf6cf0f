//! Reports: pure functions from a run and its analysis to text. Only [`live`] reads events while they happen.

pub mod card;
pub mod charts;
pub mod comparison;
mod drawing;
pub mod escape;
pub mod explain;
pub mod export;
pub mod figure;
mod findings;
pub mod heat;
pub mod html;
pub mod list;
pub mod live;
pub mod markdown;
mod markup;
mod panels;
#[cfg(feature = "png")]
pub mod png;
pub mod repeat;
mod report;
pub mod style;
mod table;
mod trace;
pub mod watch;

use std::collections::HashMap;
use std::hash::Hash;

pub use escape::{escape, escape_json};
pub use report::{Report, found_plan, run_report};
pub use style::{Detail, Style};
pub use table::table_of;
pub use trace::trace_text;

/// Items by their key, in the order of its first occurrence.
fn grouped<K: Hash + Eq + Clone, T>(items: impl IntoIterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut places = HashMap::new();
    for (key, item) in items {
        let at = *places.entry(key.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push((key, Vec::new()));
        }
        groups[at].1.push(item);
    }
    groups
}
