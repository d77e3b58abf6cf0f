//! JSON output of fio.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| mindful_import_fuzz::of_format("fio result", &["r.json"], bytes));
