//! AWR reports, and the rows that are made of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("AWR report", &["awr.txt.8"], bytes));
