//! The tests of this crate from outside, in one program, so that what waits in one lets the others work.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access_paths;
mod architecture;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "sqlite", feature = "raw"))]
mod bounds;
mod circles;
mod command_line;
mod commands;
mod compares;
#[cfg(feature = "postgres")]
mod compares_postgres;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod contrasts;
mod dependencies;
#[cfg(feature = "raw")]
mod device_latency;
#[cfg(feature = "postgres")]
mod embedded;
mod engine_options;
#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod examples;
mod explains;
mod exports;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod far_host;
#[cfg(all(target_os = "linux", feature = "sqlite", feature = "raw"))]
mod file_locks;
mod findings;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod first_day;
mod format_1;
#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod full_store;
#[cfg(feature = "sqlite")]
mod hostile_files;
mod hostile_runs;
mod hostile_text;
mod imports;
#[cfg(feature = "sqlite")]
mod knobs;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod lies;
mod listens;
mod live_views;
#[path = "../../../import/tests/it/made/mod.rs"]
mod made;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod manuals;
#[cfg(feature = "mysql")]
mod mariadb;
mod metrics;
mod mindful;
mod node_exporter;
#[cfg(feature = "oracle")]
mod oracle;
mod packages;
mod packs;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
#[path = "../../../../engines/postgres/tests/it/pgbouncer.rs"]
mod pgbouncer;
mod pictures;
mod plan_of_the_folder;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod poolers;
#[cfg(feature = "raw")]
mod prices;
mod ranks;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod ranks_compared;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod ranks_far_apart;
#[cfg(all(feature = "sqlite", feature = "raw"))]
mod ranks_on_files;
mod raw;
mod redactions;
mod secrets;
mod security_page;
#[cfg(target_os = "linux")]
mod slurm;
#[cfg(target_os = "linux")]
mod squeezes;
mod steady;
#[cfg(target_os = "linux")]
mod stops;
mod summary_schema;
mod sweeps;
#[cfg(feature = "postgres")]
mod sweeps_postgres;
mod targets;
mod versions;
mod watches;
