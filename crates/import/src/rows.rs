//! Reports as rows: one a file, under our own names or those of older tools.

mod awr_info;
mod figures;
mod flashdba;
mod own;
mod row;

pub use awr_info::awr_info;
pub use figures::{Figures, figures};
pub use flashdba::flashdba;
pub use own::{csv, json, table};
pub use row::Row;
