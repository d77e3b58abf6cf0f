//! Reports: pure functions from a run and its analysis to text. Only [`live`] looks at events while they happen.

pub mod benchmarks;
pub mod card;
pub mod charts;
pub mod comparison;
mod contrast;
pub mod csv;
mod drawing;
pub mod escape;
pub mod explain;
pub mod figure;
mod findings;
mod fold;
pub mod heat;
pub mod html;
mod io_job;
pub mod json;
pub mod list;
pub mod live;
pub mod markdown;
mod markup;
pub mod matrix;
pub mod old_columns;
mod panel;
#[cfg(feature = "png")]
pub mod png;
mod ranks;
mod report;
pub mod site;
pub mod style;
mod sweep;
mod table;
mod targets;
mod terminal;
mod trace;
pub mod watch;

pub use escape::{escape, escape_json};
pub use report::{Report, of};
pub use style::{Detail, Style};
pub use table::table_of;
pub use trace::trace_text;
