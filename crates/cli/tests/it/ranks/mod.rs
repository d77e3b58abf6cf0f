//! Several processes that share one run.

#[cfg(all(feature = "postgres", feature = "raw"))]
mod compared;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod far_apart;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod far_host;
mod launchers;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod on_files;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod one_run;
mod plans;
pub(crate) mod processes;
mod slurm;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod targets;
