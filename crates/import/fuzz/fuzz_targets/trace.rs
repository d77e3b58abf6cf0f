//! Traces, as a step and in groups.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::trace(bytes));
