//! Pages of two sides and the index of runs with a side that is unfinished, empty, huge, with hostile names, not
//! comparable, or with extreme figures.

use crate::charts::{compared, index, sweep};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::record::run::{HookRecord, Run};
use mindful_report::html::{page, site::IndexedRun};

const HOSTILE: &str = "x<script>alert(1)</script><img src=x onerror=alert(2)>&\"'\u{202e}\u{2066}";

fn with_values(mut run: Run, value: Option<f64>) -> Run {
    let readings = run.steps.iter_mut().flat_map(|step| &mut step.series).flat_map(|series| &mut series.readings);
    readings.for_each(|reading| reading.values.fill(value));
    run
}

fn runs() -> Vec<(&'static str, Run)> {
    let mut unfinished = sweep(&[1, 2, 4]);
    (unfinished.finished, unfinished.steps[2].ended) = (false, false);
    unfinished.steps[2].unmerged.truncate(3);
    let mut unknown = with_values(sweep(&[1, 2]), None);
    (unknown.description, unknown.host, unknown.dataset, unknown.load_s) = (None, None, None, None);
    unknown.environment.clear();
    let mut named = sweep(&[1, 2]);
    let own = || HOSTILE.to_owned();
    (named.head.target, named.head.engine, named.head.started_at, named.error) = (own(), own(), own(), Some(own()));
    named.head.plan.tag = Some(own());
    named.environment.insert(own(), own());
    named.hooks = vec![HookRecord { moment: own(), begin_us: i64::MIN, end_us: i64::MAX }];
    let mut other = sweep(&[1, 2, 4]);
    other.head.engine = "mysql".into();
    other.description.as_mut().unwrap().block_bytes = 16_384;
    let mut endless = with_values(sweep(&[1, 2]), Some(-f64::MAX));
    endless.steps[0].boundaries_us.fill(i64::MAX);
    endless.steps[1].clock_offset_us = i64::MIN;
    let mut nothing = Made::default().run();
    nothing.steps.clear();
    vec![
        ("unfinished", unfinished),
        ("unknown", unknown),
        ("one step", sweep(&[4])),
        ("500 steps", sweep(&(1..=500).map(|at| at % 50 + 1).collect::<Vec<_>>())),
        ("hostile names", named),
        ("not comparable", other),
        ("largest", with_values(sweep(&[1, 2]), Some(f64::MAX))),
        ("endless", endless),
        ("least", with_values(sweep(&[1, 2]), Some(5e-324))),
        ("no step", nothing),
    ]
}

fn holds(name: &str, page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{name}: {page}");
    assert!(page.len() < 1_500_000, "{name}: {} bytes", page.len());
    for never in ["<script", "<img", "\u{202e}", "\u{2066}", "NaN", ">inf<", ">inf ", "\"inf\"", " inf "] {
        assert!(!page.contains(never), "{name} has {never:?}");
    }
}

#[test]
fn two_sides_of_any_runs_are_a_page() {
    let plain = sweep(&[1, 2, 4]);
    let whole = analyze(&plain);
    for (name, run) in runs() {
        let analysis = analyze(&run);
        let (one, other) = ([(&plain, &whole)], [(&run, &analysis)]);
        holds(name, &compared(&one, &other));
        holds(name, &compared(&other, &one));
        holds(name, &page(&[one[0], other[0]]));
        if name == "not comparable" {
            let page = compared(&one, &other);
            assert!(page.contains("What is compared") && !page.contains("No setting, version"), "{name}");
        }
    }
}

#[test]
fn an_index_of_any_runs_is_a_page() {
    let all = runs();
    let count = all.len();
    let index = index(all.into_iter().map(|(_, run)| run).collect(), IndexedRun::unreadable(HOSTILE, "no run"));
    holds("index", &index);
    assert_eq!(index.matches("class=\"row\"").count(), count + 1, "{index}");
}
