//! Statspack reports, and the rows that are made of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("Statspack report", &["sp.txt"], bytes));
