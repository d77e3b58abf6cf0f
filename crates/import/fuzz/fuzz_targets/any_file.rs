//! A file of unknown content, packed or not: recognised, read, analysed and shown.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::any_file(bytes));
