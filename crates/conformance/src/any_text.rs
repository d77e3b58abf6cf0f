//! Parsers of texts from outside.

use proptest::string::string_regex;
use proptest::test_runner::{Config, TestRunner};

/// Calls `parse`, which may not panic, with 64 texts that match the regular expression `pattern`.
pub fn any_text<T>(pattern: &str, parse: impl Fn(&str) -> T) {
    let texts = string_regex(pattern).expect("a regular expression");
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(64) });
    let parsed = runner.run(&texts, |text| {
        parse(&text);
        Ok(())
    });
    parsed.unwrap_or_else(|error| panic!("{error}"));
}
