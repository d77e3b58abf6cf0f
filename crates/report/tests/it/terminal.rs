//! Reports for a person.

use std::path::Path;

use crate::charts::{contrast, sweep};
use crate::forms::{hostile, text, without_colour};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::record::run::Run;
use mindful_report::export::{csv, json};
use mindful_report::figure::number;
use mindful_report::{Detail, Style, explain, list};
use proptest::prelude::*;

fn report(run: &Run) -> String {
    report_of(run, Detail::Full)
}

fn report_of(run: &Run, detail: Detail) -> String {
    let stored = Path::new("/srv/mindful/runs/20261121-013542-k7f");
    mindful_report::run_report(run, &analyze(run), Some(stored), detail).to_text(&Style::default())
}

#[test]
fn a_report_is_short_unless_all_of_it_is_asked_for() {
    insta::assert_snapshot!("a_clean_run_in_short", report_of(&Made::default().run(), Detail::Short));
    let made = Made { update_pct: "20", latency_us: 400, from_storage: 0.3, device: 1.2, ..Made::default() };
    insta::assert_snapshot!("a_run_with_updates_in_short", report_of(&made.run(), Detail::Short));
    for (run, most) in [(Made::default().run(), 27), (made.run(), 53)] {
        let short = report_of(&run, Detail::Short);
        assert!(short.lines().count() <= most, "{} lines: {short}", short.lines().count());
    }
}

#[test]
fn a_sweep_is_drawn_where_there_is_room() {
    let run = sweep(&[1, 2, 3, 4, 6, 8, 16, 32]);
    let report_of = |width, ascii| text(&run, Detail::Short, &Style { width, ascii, ..Style::default() });
    insta::assert_snapshot!("a_sweep_in_short", report_of(100, false));
    let ascii = report_of(100, true);
    assert!(ascii.is_ascii() && ascii.contains("32 o") && ascii.contains("p99 of an operation"), "{ascii}");
    assert!(!report_of(70, false).contains("p99 of an operation"), "no curve without room");
}

#[test]
fn a_clean_run() {
    insta::assert_snapshot!(report(&Made::default().run()));
}

#[test]
fn a_run_with_updates_and_a_page_cache_in_the_way() {
    let made = Made { update_pct: "20", latency_us: 400, from_storage: 0.3, device: 1.2, ..Made::default() };
    insta::assert_snapshot!(report(&made.run()));
}

#[test]
fn a_cached_run_on_an_unseen_device() {
    use mindful_core::contract::metric::Counter;
    let unseen = &[Counter::DeviceReads, Counter::DeviceReadBytes, Counter::ProcessReadBytes];
    let made = Made { miss: 0.0001, latency_us: 90, host_busy: 0.98, server_cores: 7.6, unseen, ..Made::default() };
    insta::assert_snapshot!(report(&made.run()));
}

#[test]
fn a_run_that_failed_before_it_began() {
    let mut run = Made::default().run();
    run.steps[0].unmerged.clear();
    run.steps[0].series.clear();
    run.steps[0].boundaries_us.clear();
    run.steps[0].error = Some("session 3: server closed the connection: restart it and run again".into());
    insta::assert_snapshot!(report(&run));
}

#[test]
fn sessions_on_several_hosts_are_reported_by_host() {
    let mut run = Made::default().run();
    assert!(!report(&run).contains("host 1"));
    let schemas = run.steps[0].head.workload.as_ref().unwrap().schemas;
    run.steps[0].head.placements = run.head.plan.placements(schemas, 3);
    assert!(report(&run).contains("host 1: 2, host 2: 1, host 3: 1"), "{}", report(&run));
}

#[test]
fn two_steps() {
    let mut run = Made::default().run();
    let mut head = run.steps[0].head.clone();
    let more = Made { sessions: 8, latency_us: 12_000, ..Made::default() };
    (head.step, head.placements) = (1, more.run().steps[0].head.placements.clone());
    run.steps.push(more.step(head));
    insta::assert_snapshot!(report(&run));
}

#[test]
fn the_list() {
    let (valid, suspect) =
        (Made::default().run(), Made { from_storage: 0.1, update_pct: "20", ..Made::default() }.run());
    let summaries = [&valid, &suspect].map(|run| analyze(run).summary);
    let row = |run, summary| list::StoredRun { id: "20261121-013542-k7f", head: Some(run), summary, fault: None };
    let rows = [
        row(&valid.head, Some(&summaries[0])),
        row(&suspect.head, Some(&summaries[1])),
        row(&valid.head, None),
        list::StoredRun {
            id: "20261120-000000-bad",
            head: None,
            summary: None,
            fault: Some("run.jsonl line 4 is corrupt"),
        },
    ];
    let style = |width| Style { width, ..Style::default() };
    insta::assert_snapshot!(list::table(&rows, &style(200)));
    let narrow = list::table(&rows, &style(60));
    let mut of_table = narrow.lines().filter(|line| !line.contains("cannot be read"));
    assert!(of_table.all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(narrow.contains("blocks/s") && narrow.contains("no room for: "), "{narrow}");
}

#[test]
fn a_contrast_is_listed_by_its_ratio() {
    let run = contrast();
    let summary = analyze(&run).summary;
    let row = list::StoredRun { id: "a", head: Some(&run.head), summary: Some(&summary), fault: None };
    let text = list::table(&[row], &Style { width: 200, ..Style::default() });
    let ratio = summary.contrast.and_then(|contrast| contrast.eta).unwrap();
    let fastest = summary.steps.iter().filter_map(|step| step.blocks_visited_per_s).fold(0.0, f64::max);
    assert!(text.contains(&format!("contrast, ratio {ratio:.3}")), "{text}");
    assert!(!text.contains(&number(fastest)), "no step of it is the result: {text}");
}

#[test]
fn the_summary_as_json() {
    let made = Made { update_pct: "20", latency_us: 400, ..Made::default() };
    insta::assert_snapshot!(json::summary(&analyze(&made.run()).summary));
}

#[test]
fn the_steps_as_csv() {
    let mut run = Made { update_pct: "20", latency_us: 400, ..Made::default() }.run();
    run.head.plan.tag = Some("=cmd(),\"x\"".into());
    insta::assert_snapshot!(csv::steps(&analyze(&run)));
}

fn harmless(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c))
}

#[test]
fn a_name_from_outside_never_steers_the_terminal() {
    let run = hostile("x\x1b[2J\x1b]0;owned\x07\r\u{9b}31m\u{202e}\n\ty");
    let analysis = analyze(&run);
    assert!(harmless(&report(&run)));
    let rows = [
        list::StoredRun { id: "a", head: Some(&run.head), summary: Some(&analysis.summary), fault: None },
        list::StoredRun { id: "b", head: None, summary: None, fault: run.error.as_deref() },
    ];
    assert!(harmless(&list::table(&rows, &Style::default())));
    assert!(harmless(&csv::steps(&analysis)));
}

#[test]
fn colour_adds_nothing_but_colour() {
    let run = Made { from_storage: 0.3, ..Made::default() }.run();
    let [coloured, plain] = [true, false].map(|colour| text(&run, Detail::Full, &Style { colour, ..Style::default() }));
    assert_ne!(plain, coloured);
    assert_eq!(plain, without_colour(&coloured));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]
    #[test]
    fn no_line_is_wider_than_the_terminal(width in 80_usize..140, from_storage in 0.0_f64..1.2, miss in 0.0_f64..1.0) {
        let run = Made { from_storage, miss, update_pct: "20", latency_us: 4_000, ..Made::default() }.run();
        let text = text(&run, Detail::Full, &Style { width, ..Style::default() });
        for line in text.lines() {
            prop_assert!(line.chars().count() <= width.min(100), "{line}");
        }
    }
}

#[test]
fn a_figure_is_explained_by_its_formula_and_its_counters() {
    let analysis = analyze(&Made { from_storage: 0.3, ..Made::default() }.run());
    insta::assert_snapshot!(explain::figure("page_cache_share", &analysis).unwrap());
    insta::assert_snapshot!(explain::figure("verdict", &analysis).unwrap());
    assert!(explain::known("by_session").is_ok(), "the name of several figures");
}
