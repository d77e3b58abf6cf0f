//! All targets: the name of the program decides what it reads.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::target(env!("CARGO_BIN_NAME"), bytes));
