//! The outcome of a gate as JUnit XML, the form in which build servers keep the results of tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::compare::{ComparedPoint, ComparedSides, Gate, GateOutcome, Side, Sides};
use mindful_core::record::run::Run;

use super::text::{comparison_text, verdict_line};
use super::verdict::gate_line;
use crate::markup;
use crate::style::Style;

/// Style of texts on a build server.
pub(super) const PLAIN: Style = Style { width: 120, colour: false, ascii: true };

pub fn comparison_suite(compared: &ComparedSides, sides: &Sides, gate: &Gate) -> String {
    let cases: Vec<Case> = compared.points.iter().map(|point| case(gate, compared, point)).collect();
    let differing: Vec<_> = compared.differences.iter().map(|d| format!("{}: {}", d.fact, d.sides())).collect();
    let mut properties = vec![
        ("gate", gate.condition.clone()),
        ("figure", compared.figure.unit().to_owned()),
        ("baseline", ids(&sides.baseline)),
        ("candidate", ids(&sides.candidate)),
        ("differing", differing.join("; ")),
    ];
    properties.extend(notice_property(sides.runs()));
    let [from, to] = &compared.names;
    suite(&format!("{to} against {from}"), &properties, &cases, &comparison_text(compared, sides, &PLAIN))
}

fn case(gate: &Gate, compared: &ComparedSides, point: &ComparedPoint) -> Case {
    let (unit, load) = (compared.figure.unit(), point.load);
    let name = if compared.points.len() == 1 { unit.to_owned() } else { format!("{unit} at {load}") };
    let outcome = gate.judge_points(std::slice::from_ref(point));
    Case { name, ending: gate_ending(gate, outcome, &verdict_line(point, compared)) }
}

pub(super) fn gate_ending(gate: &Gate, outcome: GateOutcome, why: &str) -> Ending {
    let why = format!("{}; {why}", gate_line(gate, outcome, None));
    match outcome {
        GateOutcome::Passed => Ending::Passed,
        GateOutcome::Crossed => Ending::Failed("crossed", why),
        GateOutcome::Undecided if gate.fails(outcome) => Ending::Failed("undecided", why),
        GateOutcome::Undecided => Ending::Skipped(why),
    }
}

pub(super) fn notice_property<'a>(runs: impl Iterator<Item = &'a (Run, Analysis)>) -> Option<(&'static str, String)> {
    let notices: BTreeSet<&str> = runs.filter_map(|(_, analysis)| analysis.summary.notice.as_deref()).collect();
    (!notices.is_empty()).then(|| ("notice", notices.into_iter().collect::<Vec<_>>().join(" ")))
}

fn ids(side: &Side) -> String {
    side.iter().map(|(run, _)| run.head.id.clone()).collect::<Vec<_>>().join(" ")
}

pub(super) enum Ending {
    Passed,
    Failed(&'static str, String),
    Skipped(String),
}

pub(super) struct Case {
    pub(super) name: String,
    pub(super) ending: Ending,
}

/// One suite of `cases`, with their basis as `(name, value)` and the full report.
pub(super) fn suite(name: &str, properties: &[(&str, String)], cases: &[Case], report: &str) -> String {
    let count = |wanted: fn(&Ending) -> bool| cases.iter().filter(|case| wanted(&case.ending)).count();
    let (failures, skipped) =
        (count(|ending| matches!(ending, Ending::Failed(..))), count(|ending| matches!(ending, Ending::Skipped(_))));
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{failures}\" errors=\"0\">\n\
         <testsuite name=\"{1}\" tests=\"{0}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">\n<properties>\n",
        cases.len(),
        xml_text(name),
    );
    for (property, value) in properties {
        // Writing to a string cannot fail.
        let _ = writeln!(xml, "<property name=\"{}\" value=\"{}\"/>", xml_text(property), xml_text(value));
    }
    xml.push_str("</properties>\n");
    for case in cases {
        let _ = write!(xml, "<testcase classname=\"{}\" name=\"{}\">", xml_text(name), xml_text(&case.name));
        let _ = match &case.ending {
            Ending::Passed => Ok(()),
            Ending::Failed(kind, why) => write!(xml, "<failure type=\"{kind}\" message=\"{}\"/>", xml_text(why)),
            Ending::Skipped(why) => write!(xml, "<skipped message=\"{}\"/>", xml_text(why)),
        };
        xml.push_str("</testcase>\n");
    }
    let lines: Vec<_> = report.lines().map(xml_text).collect();
    let _ = write!(xml, "<system-out>{}</system-out>\n</testsuite>\n</testsuites>\n", lines.join("\n"));
    xml
}

/// XML does not allow these two characters, not even as a reference.
fn xml_text(from_outside: &str) -> String {
    markup::escaped_text(from_outside).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use mindful_conformance::not_run;

    use super::*;

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
}
