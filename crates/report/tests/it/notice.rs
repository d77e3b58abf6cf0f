//! Every form of a report contains the notice of the target.

use mindful_analyze::analyze;
use mindful_report::export::{benchmarks, csv, json};
use mindful_report::style::{Detail, Style};

use crate::forms::{on_one_line, text, written};
use crate::made::Made;

const NOTICE: &str = "Ask your lawyer before you show this";

/// A notice of hostile words does not break a line of a line-based format.
#[test]
fn a_notice_of_several_lines_stays_on_its_line() {
    let mut run = Made::default().run();
    run.description.as_mut().unwrap().notice = Some("one\n1.0,1.0,1.0,AAAA \"two\"\\".to_owned());
    let analysis = analyze(&run);
    let text = benchmarks::openmetrics((&run, &analysis));
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("mindful_notice_info{")).collect();
    assert!(lines.len() == 1 && lines[0].ends_with(r#"notice="one\n1.0,1.0,1.0,AAAA \"two\"\\"} 1"#), "{lines:?}");
}

#[test]
fn a_notice_is_in_every_form_of_its_run_only() {
    for notice in [None, Some(NOTICE.to_owned())] {
        let mut run = Made::default().run();
        run.description.as_mut().unwrap().notice.clone_from(&notice);
        let analysis = analyze(&run);
        let text = |detail| text(&run, detail, &Style::default());
        for (form, text) in [
            ("short text", text(Detail::Short)),
            ("whole text", text(Detail::Full)),
            ("markdown", written(&run)),
            ("json", json::summary(&analysis.summary)),
            ("csv", csv::steps(&analysis)),
            ("github-bigger", benchmarks::github((&run, &analysis), true)),
            ("github-smaller", benchmarks::github((&run, &analysis), false)),
            ("openmetrics", benchmarks::openmetrics((&run, &analysis))),
        ] {
            let text = on_one_line(&text);
            assert_eq!(text.contains(NOTICE), notice.is_some(), "{form}: {text}");
        }
        let columns: Vec<usize> = csv::steps(&analysis).lines().map(|line| line.split(',').count()).collect();
        assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{columns:?}");
    }
}
