//! Heat maps of latency, in a terminal and on the page of a run.

use crate::forms::{hostile, page, without_colour};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::Run;
use mindful_core::workload::OpKind;
use mindful_report::{Style, heat};
use proptest::prelude::*;

/// Selects of 100 us and, one in a thousand, of 300 ms; in the fifth second of the window only a stall.
fn two_humps() -> Run {
    let made = Made::default();
    let mut run = made.run();
    for (_, slice) in &mut run.steps[0].unmerged {
        let stalled = slice.index == made.warmup + 4;
        let mut recorder = Recorder::new();
        for i in 0..if stalled { 10 } else { 1_000 } {
            recorder.record(if i == 999 { 300_000_000 } else { 90_000 + i * 20 });
        }
        if stalled {
            recorder.record(900_000_000);
        }
        let op = slice.op_mut(OpKind::Select);
        (op.ops, op.latency) = (recorder.count(), recorder.drain());
    }
    run
}

#[test]
fn a_rare_slow_band_and_a_stall_in_a_terminal() {
    let run = two_humps();
    insta::assert_snapshot!(heat::terminal::report(&run, &analyze(&run), &Style::default()));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let run = two_humps();
    let map = |colour| heat::terminal::report(&run, &analyze(&run), &Style { colour, ..Style::default() });
    assert_ne!(map(false), map(true));
    assert_eq!(map(false), without_colour(&map(true)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn no_line_is_wider_than_the_terminal(width in 60_usize..140, seconds in 1_u32..150) {
        let run = Made { seconds, latency_us: 100_000, update_pct: "20", ..Made::default() }.run();
        let text = heat::terminal::report(&run, &analyze(&run), &Style { width, ..Style::default() });
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width.min(100), "{line}");
        }
    }
}

#[test]
fn each_kind_of_operation_has_its_two_maps_with_a_title() {
    let of = |update_pct| page(&Made { update_pct, latency_us: 400, ..Made::default() }.run());
    for (update_pct, maps) in [("0", 2), ("20", 4), ("100", 2)] {
        let page = of(update_pct);
        assert_eq!(page.matches("data-chart=\"heat\"").count(), maps, "{update_pct} % updates");
        assert_eq!(page.matches("<summary>How to read it</summary>").count(), 1, "once for all maps, without a table");
        assert_eq!(page.matches("<svg").count(), page.matches("role=\"img\" aria-labelledby=").count());
        assert_eq!(page.matches("</title>\n<desc").count(), page.matches("<svg").count());
    }
}

#[test]
fn the_page_describes_the_cost_of_few_operations() {
    let page = page(&two_humps());
    assert!(page.contains("longer than 8 times the median"), "{page}");
    assert!(page.contains("0.1 % of all, with 80"), "{page}");
}

#[test]
fn the_page_needs_no_other_file() {
    let page = page(&two_humps());
    for outside in ["http://", "https://", "<script", "src=", "href=", "url(", "@import", "onload"] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("what was measured"));
}

#[test]
fn the_page_of_an_hour_is_small() {
    let run = Made { seconds: 3_600, latency_us: 20_000, sessions: 2, ..Made::default() }.run();
    assert!(page(&run).len() < 100_000, "{}", page(&run).len());
}

#[test]
fn a_run_without_a_figure_has_a_page_all_the_same() {
    let mut run = Made::default().run();
    run.steps[0].unmerged.clear();
    let page = page(&run);
    assert!(page.contains("no figure") && page.contains("INVALID") && !page.contains("<svg"));
    assert!(heat::terminal::report(&run, &analyze(&run), &Style::default()).contains("no operation was measured"));
}

/// Names of tags that are opened and not closed, or closed and not opened.
fn unbalanced(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap();
        let name: String = tag.chars().take_while(|c| c.is_alphanumeric() || "/!".contains(*c)).collect();
        match name.strip_prefix('/') {
            Some(closed) if open.last().is_some_and(|last| last == closed) => drop(open.pop()),
            None if tag.ends_with('/') || ["meta", "!doctype"].contains(&name.as_str()) => {}
            Some(_) | None => open.push(name),
        }
    }
    open
}

#[test]
fn a_name_from_outside_is_never_markup() {
    let text = "x<script>alert(1)</script>&\"'\x1b[2J\u{202e}";
    let page = page(&hostile(text));
    assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script"));
    assert_eq!(unbalanced(&page), [""; 0]);
}
