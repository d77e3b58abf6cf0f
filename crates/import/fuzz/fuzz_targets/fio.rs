//! JSON output of fio.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("fio result", &["r.json"], bytes));
