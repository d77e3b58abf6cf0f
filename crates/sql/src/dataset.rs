//! The dataset in tables of a database: which are there and which are missing, the streams that load them, the lock of a
//! namespace, and the proof of the layout.

pub mod load_queue;
pub mod proof;
pub mod run_lock;
pub mod table_registry;
