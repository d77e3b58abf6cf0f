//! A run as Markdown.

use crate::charts::sweep;
use crate::forms::written;
use crate::made::Made;

#[test]
fn a_run_as_markdown() {
    insta::assert_snapshot!(written(&Made { update_pct: "20", latency_us: 400, ..Made::default() }.run()));
}

#[test]
fn a_sweep_as_markdown() {
    insta::assert_snapshot!(written(&sweep(&[1, 2, 4])));
}

#[test]
fn no_name_from_outside_is_a_mark_of_markdown() {
    let mut run = Made::default().run();
    run.head.target = "x|y`z`<b>[a](b)*c*_d_#\n| e @team".into();
    let page = written(&run);
    assert!(page.contains(r"x\|y\`z\`&lt;b&gt;\[a\](b)\*c\*\_d\_\#"), "{page}");
    assert!(!page.contains("@team") || page.contains(r"\@team"));
    for line in page.lines().filter(|line| line.starts_with("| engine")) {
        let bars = line.char_indices().filter(|(at, c)| *c == '|' && !line[..*at].ends_with('\\'));
        assert_eq!(bars.count(), 3, "{line}");
    }
}
