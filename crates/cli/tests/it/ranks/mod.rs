//! Several processes that share one run.

#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod compared;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod far_apart;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod far_host;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod on_files;
pub mod one_run;
#[cfg(target_os = "linux")]
mod slurm;
mod targets;
