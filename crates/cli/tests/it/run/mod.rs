//! `mindful run`.

#[cfg(feature = "postgres")]
mod access_paths;
mod command_line;
#[cfg(feature = "raw")]
mod device_latency;
#[cfg(feature = "postgres")]
mod embedded;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod file_locks;
#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod full_store;
mod hooks;
#[cfg(feature = "sqlite")]
mod hostile_files;
#[cfg(all(feature = "raw", feature = "sqlite"))]
mod hostile_folders;
#[cfg(feature = "sqlite")]
mod knobs;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod live_views;
mod node_exporter;
pub(crate) mod outcomes;
#[cfg(feature = "raw")]
mod prices;
mod refusals;
mod secrets;
mod steady;
#[cfg(feature = "postgres")]
mod surroundings;
