//! Reports as tables: a title, names of columns, rows of cells. Text and HTML come to the same.

pub mod html;
mod table;
pub mod text;

pub use table::{Table, is_called, known};
