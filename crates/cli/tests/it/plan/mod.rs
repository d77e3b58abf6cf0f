//! `mindful plan`.

#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod bounds;
mod engine_options;
#[cfg(all(feature = "postgres", feature = "sqlite", feature = "raw"))]
mod examples;
mod plan_of_the_folder;
mod values;
