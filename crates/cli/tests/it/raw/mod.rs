//! `mindful raw` and raw files under `mindful run`, on real files.

mod denied;
mod jobs;
mod large;
mod missing;
mod place;
