//! The shape of the house: the direction of imports, and pages and manifests that agree with the code.

mod architecture;
mod circles;
mod dependencies;
mod findings;
#[cfg(all(target_os = "linux", feature = "postgres", feature = "raw"))]
mod first_day;
mod lies;
pub mod metrics;
mod packages;
mod security_page;
mod summary_schema;
