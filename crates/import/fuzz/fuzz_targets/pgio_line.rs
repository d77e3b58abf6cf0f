//! Output of pgio.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("pgio result", &["pgio.out"], bytes));
