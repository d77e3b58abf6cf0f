//! `mindful export` and `mindful pack`.

mod forms;
mod packs;
mod pictures;
pub(crate) mod redactions;
mod sites;
