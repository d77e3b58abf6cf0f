//! `mindful run`.

mod access_paths;
mod commands;
#[cfg(feature = "raw")]
mod device_latency;
#[cfg(feature = "postgres")]
mod embedded;
#[cfg(all(target_os = "linux", feature = "sqlite", feature = "raw"))]
mod file_locks;
#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod full_store;
#[cfg(feature = "sqlite")]
mod hostile_files;
#[cfg(feature = "sqlite")]
mod knobs;
mod live_views;
mod node_exporter;
#[cfg(feature = "raw")]
mod prices;
mod secrets;
mod steady;
