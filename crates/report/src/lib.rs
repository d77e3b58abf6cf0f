//! Reports: pure functions from a run and its analysis to text. Only [`live`] looks at events while they happen.

pub mod contrast;
pub mod csv;
pub mod escape;
pub mod explain;
pub mod figure;
pub mod heat;
pub mod html;
pub mod io_job;
pub mod json;
pub mod list;
pub mod live;
pub mod matrix;
pub mod style;
pub mod sweep;
mod table;
pub mod terminal;

pub use escape::escape;
pub use style::Style;
pub use table::table_of;
