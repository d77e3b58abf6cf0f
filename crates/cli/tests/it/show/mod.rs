//! `mindful show` and `mindful list`.

mod explain;
mod format_1;
mod linear;
mod lists;
