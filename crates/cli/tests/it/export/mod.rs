//! `mindful export` and `mindful pack`.

mod forms;
mod packs;
mod pictures;
pub mod redactions;
