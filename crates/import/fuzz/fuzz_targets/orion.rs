//! Summaries and matrices of Orion.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format(
    "Orion result",
    &["d_iops.csv", "d_lat.csv", "d_mbps.csv"],
    bytes
));
