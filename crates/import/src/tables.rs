//! Reports as tables: a title, names of columns, rows of cells. Text and HTML come to the same.

pub(crate) mod html;
mod style;
mod table;
pub(crate) mod text;

pub(crate) use style::unify;
pub(crate) use table::{Table, is_called, known};
