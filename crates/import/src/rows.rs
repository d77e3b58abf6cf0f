//! Reports as rows: one a file, under our own names or those of older tools.

mod awr_info;
mod figures;
pub(crate) mod flashdba;
mod own;

pub use awr_info::{HEADER as AWR_INFO, awr_info};
pub use figures::{Figures, ReportRow, figures, line, piped};
pub use flashdba::{flashdba, names as flashdba_names};
pub use own::{csv, json, table};
