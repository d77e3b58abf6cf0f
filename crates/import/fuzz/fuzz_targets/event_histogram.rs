//! Event histogram records.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("event histogram records", &["h.txt"], bytes));
