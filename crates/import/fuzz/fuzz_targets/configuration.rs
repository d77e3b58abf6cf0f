//! Configurations of older kits.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::configuration(bytes));
