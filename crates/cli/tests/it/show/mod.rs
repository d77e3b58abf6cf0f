//! `mindful show` and `mindful list`.

mod command_line;
mod explain;
mod format_1;
