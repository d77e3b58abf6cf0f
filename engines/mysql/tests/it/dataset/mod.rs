//! The dataset on real servers: its proof, other storage engines, and nothing of others touched.

mod hostile;
mod other_storage;
mod proof;
