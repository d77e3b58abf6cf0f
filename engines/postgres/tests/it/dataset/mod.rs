//! The dataset on real servers: its layout, its proof, its lock, and no change of foreign objects.

mod content;
mod hostile;
mod load;
mod lock;
mod owner_settings;
mod proof;
