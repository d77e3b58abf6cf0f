//! What a gate said, as JUnit XML: the form in which build servers keep results of tests.

use std::fmt::Write as _;

use crate::markup;

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The gate let it pass.
    Passed,
    /// It failed: of what kind, and why in a line.
    Failed(&'static str, String),
    /// Nothing was decided, and that is allowed: why in a line.
    Skipped(String),
}

/// One question that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// What was compared.
    pub name: String,
    /// What came of it.
    pub ending: Ending,
}

/// One suite of `cases`, with what it rests on as `(name, value)` and the report in full.
pub fn suite(name: &str, properties: &[(&str, String)], cases: &[Case], report: &str) -> String {
    let count = |wanted: fn(&Ending) -> bool| cases.iter().filter(|case| wanted(&case.ending)).count();
    let (failures, skipped) =
        (count(|ending| matches!(ending, Ending::Failed(..))), count(|ending| matches!(ending, Ending::Skipped(_))));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{failures}\" errors=\"0\">\n\
         <testsuite name=\"{1}\" tests=\"{0}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n<properties>\n",
        cases.len(),
        text(name),
    );
    for (property, value) in properties {
        // Writing to a string cannot fail.
        let _ = writeln!(xml, "<property name=\"{}\" value=\"{}\"/>", text(property), text(value));
    }
    xml.push_str("</properties>\n");
    for case in cases {
        let _ = write!(xml, "<testcase classname=\"{}\" name=\"{}\">", text(name), text(&case.name));
        let _ = match &case.ending {
            Ending::Passed => Ok(()),
            Ending::Failed(kind, why) => write!(xml, "<failure type=\"{kind}\" message=\"{}\"/>", text(why)),
            Ending::Skipped(why) => write!(xml, "<skipped message=\"{}\"/>", text(why)),
        };
        xml.push_str("</testcase>\n");
    }
    let lines: Vec<_> = report.lines().map(text).collect();
    let _ = write!(xml, "<system-out>{}</system-out>\n</testsuite>\n</testsuites>\n", lines.join("\n"));
    xml
}

/// XML knows neither of these two characters, not even as a reference.
fn text(from_outside: &str) -> String {
    markup::text(from_outside).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}
