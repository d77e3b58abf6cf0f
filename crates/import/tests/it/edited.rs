//! Reports that were changed after the database wrote them.

use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::cluster_page;
use crate::made::{Dress, Made, showcase};
use crate::measured::read;
use crate::samples::DRESSES;

fn contradiction(text: &str) -> Option<Finding> {
    let step = read("awr.txt", text).unwrap().remove(0);
    let doubts = step.findings.into_iter().filter(|finding| finding.code == codes::IMPORTED_DOUBT.name());
    doubts.into_iter().find(|finding| finding.text.contains("contradict"))
}

#[test]
fn a_report_as_it_was_written_agrees_with_itself() {
    for dress in DRESSES {
        assert_eq!(contradiction(&showcase().report(dress)), None, "{dress:?}");
    }
    assert_eq!(contradiction(&cluster_page::made()), None);
}

#[test]
fn a_figure_that_is_changed_in_one_place_contradicts_the_others() {
    let report = showcase().report(Dress::Awr12);
    let edits = [
        ("logical reads of the profile", "119,749.5", "219,749.5"),
        ("physical reads of the profile", "71,556.0", "91,556.0"),
        ("length of the report", "5.08 (mins)", "10.08 (mins)"),
        ("DB time at the head", "642.62 (mins)", "342.62 (mins)"),
        ("clock of the end", "23-May-16 10:05:04", "23-May-16 10:15:04"),
    ];
    for (what, from, to) in edits {
        assert!(report.contains(from), "{what}: {from} is not in the report:\n{report}");
        assert!(contradiction(&report.replacen(from, to, 1)).is_some(), "{what}");
    }
}

#[test]
fn levels_that_serve_more_than_they_were_asked_for_contradict() {
    let more = Made { blocks_read: 160_000.0, read_requests: 150_000.0, ..showcase() };
    let requests = Made { read_requests: 95_000.0, ..showcase() };
    let waits = Made { foreground: vec![("db file sequential read", 21_643_000, 56_427)], ..showcase() };
    for (what, made) in [("blocks above logical reads", more), ("requests above blocks", requests), ("waits", waits)] {
        for dress in [Dress::Awr12, Dress::Html] {
            assert!(contradiction(&made.report(dress)).is_some(), "{what}, {dress:?}");
        }
    }
}
