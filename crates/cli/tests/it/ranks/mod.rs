//! Several processes that share one run.

#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod compared;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod far_apart;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod far_host;
mod launchers;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod on_files;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod one_run;
mod plans;
pub(crate) mod processes;
#[cfg(target_os = "linux")]
mod slurm;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod targets;
