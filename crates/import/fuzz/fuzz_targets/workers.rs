//! Tables of workers and logical reads.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("table of workers", &["LIO.csv"], bytes));
