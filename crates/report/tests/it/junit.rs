//! JUnit XML of names that mean harm.

use std::io::Write as _;
use std::process::{Command, Stdio};

use mindful_conformance::not_run;
use mindful_report::junit::{Case, Ending, suite};

#[test]
fn hostile_names_leave_junit_xml_whole() {
    let text = "]]><x a=\"1\">&\u{0}\u{b}\u{fffe}\u{ffff}\u{202e}'--".to_owned();
    let case = |ending| Case { name: text.clone(), ending };
    let cases = [
        case(Ending::Passed),
        case(Ending::Failed("crossed", text.clone())),
        case(Ending::Failed("undecided", text.clone())),
        case(Ending::Skipped(text.clone())),
    ];
    let xml = suite(&text, &[("gate", text.clone())], &cases, &format!("{text}\nsecond line"));
    assert!(xml.contains("tests=\"4\" failures=\"2\"") && xml.contains("skipped=\"1\""), "{xml}");
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/it/junit/junit-10.xsd");
    let mut lint = Command::new("xmllint");
    lint.args(["--noout", "--nonet", "--schema", schema, "-"]).stdin(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut lint) = lint.spawn() else { return not_run("no xmllint here: apt-get install libxml2-utils") };
    lint.stdin.take().unwrap().write_all(xml.as_bytes()).unwrap();
    let read = lint.wait_with_output().unwrap();
    assert!(read.status.success(), "{read:?}\n{xml}");
}
