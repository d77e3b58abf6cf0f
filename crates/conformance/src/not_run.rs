//! Tests that need more than every machine and user provide.

use std::io::Write as _;

/// Set by the gate if it runs as root: then each test must run.
const ALL_MUST_RUN: &str = "ALL_TESTS_MUST_RUN";

/// The number of an account that each system has and that does not run tests. Root can give files to it; the plain user
/// of the gate cannot.
pub const STRANGER: u32 = 1;

/// Prints one line that the calling test did not run, and why; then the test returns. The line bypasses the capture of
/// test output and begins with `NOT RUN`, which the gate counts. Under `ALL_TESTS_MUST_RUN` the test fails instead.
pub fn not_run(why: &str) {
    let thread = std::thread::current();
    let line = format!("NOT RUN {}: {}\n", thread.name().unwrap_or_default(), why.lines().next().unwrap_or_default());
    assert!(std::env::var_os(ALL_MUST_RUN).is_none(), "{line}");
    std::io::stderr().write_all(line.as_bytes()).expect("stderr can be written");
}
