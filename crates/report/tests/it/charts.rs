//! Charts of runs as pictures: their text, their marks, and properties that hold for every run.

use crate::forms;
use crate::made::{Made, add};
use mindful_analyze::compare::{ComparedFigure, Interval, OrderedBy, Sides};
use mindful_analyze::{Analysis, analyze};
use mindful_core::contract::wait::SAMPLES;
use mindful_core::record::run::{HookRecord, Point, Run, StepHead};
use mindful_core::result::{CommitContrastSummary, CommitRow};
use mindful_report::comparison::{Difference, Differences, comparison_text, differences};
use mindful_report::html::index;
use mindful_report::html::site::IndexedRun;
use mindful_report::{Detail, Style, charts, html};

/// The index of a site with `runs`, and one that cannot be read.
pub(crate) fn index(runs: Vec<Run>, unreadable: IndexedRun) -> String {
    let by = OrderedBy::parse("reads").unwrap();
    let row = |run: Run| {
        let analysis = analyze(&run);
        IndexedRun::from_run(&run, &analysis, by)
    };
    index::index(runs.into_iter().map(row).chain([unreadable]).collect(), by, 0.03).unwrap()
}

/// A sweep with throughput that stops growing at 8 sessions.
pub(crate) fn sweep(steps: &[u32]) -> Run {
    let made = |sessions: u32| Made {
        sessions,
        latency_us: 3_000 * u64::from(sessions.max(8)) / 8,
        update_pct: "20",
        ..Made::default()
    };
    let mut run = made(steps[0]).run();
    let first = run.steps[0].head.clone();
    run.steps.clear();
    for (at, sessions) in (0..).zip(steps) {
        let mut step = made(*sessions).run().steps.remove(0);
        let point = Point { values: [("sessions".to_owned(), sessions.to_string())].into(), ..Point::default() };
        step.head = StepHead { step: at, point, placements: step.head.placements, ..first.clone() };
        run.steps.push(step);
    }
    run
}

/// A contrast in two rounds on all cores: raw reads of 2 ms, the database of 5 ms, or of 1 ms from its cache.
pub(crate) fn contrast() -> Run {
    let made = |latency_us: u64| Made { latency_us, work_unit: 1, ..Made::default() };
    let mut run = made(2_000).run();
    let first = run.steps.remove(0).head;
    let levels = [
        ("raw untouched", 2_000),
        ("raw, one byte", 2_100),
        ("database, physical", 5_000),
        ("database, cached", 1_000),
    ];
    let turns = (0..2).flat_map(|pass| levels.map(|(level, latency_us)| (pass, level, latency_us)));
    for (step, (pass, level, latency_us)) in (0..).zip(turns) {
        let values = [("rung", level), ("cores", "all")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        let point = Point { values: values.into(), pass, ..Point::default() };
        run.steps.push(made(latency_us).step(StepHead { step, point, ..first.clone() }));
    }
    run
}

/// Bare writes of 1 ms, and a database that shares its syncs from 2 sessions on, as its log reports.
pub(crate) fn commits() -> CommitContrastSummary {
    let row = |name: &str, sessions: u32, commits_per_s: f64, commits_per_sync: Option<f64>| CommitRow {
        name: name.into(),
        sessions,
        commits_per_s,
        p50_us: Some(900.0 * f64::from(sessions) * 1_000.0 / commits_per_s),
        p99_us: Some(2_400.0 * f64::from(sessions) * 1_000.0 / commits_per_s),
        commits_per_sync,
        spread: 0.02,
    };
    let loads = [1, 2, 4, 8, 16, 32];
    let many = |load: u32| f64::from(load).powf(0.6);
    let raw = loads.map(|load| row("raw, fdatasync", load, 1_010.0 * many(load), Some(1.0)));
    let database = loads.map(|load| row("database", load, 830.0 * f64::from(load).powf(0.9), Some(many(load))));
    let bare = [row("bare, fdatasync", 1, 1_000.0, Some(1.0)), row("bare, O_DSYNC", 1, 900.0, None)];
    let rows = bare.into_iter().chain(raw).chain(database).collect();
    CommitContrastSummary { rows, ratio: Some(0.83), ratio_interval: Some([0.8, 0.86]) }
}

#[test]
fn commits_are_one_picture_of_three_fields_with_one_legend() {
    let run = sweep(&[1, 2]);
    let mut analysis = analyze(&run);
    analysis.summary.commits = Some(commits());
    let picture = marks(&charts::named("commits", &[(&run, &analysis)]).unwrap().file(&[]));
    assert_eq!(picture.matches("class=\"field\"").count(), 3, "{picture}");
    assert_eq!(picture.matches("class=\"key dot").count(), 2, "one legend: {picture}");
    assert_eq!(picture.matches(">bare, fdatasync</text>").count(), 2, "commits and p99 have a level: {picture}");
    assert_eq!(picture.matches(">sessions, or writes in flight</text>").count(), 1, "{picture}");
    let places = |sessions: &str| -> Vec<String> {
        let marks = picture.split("<path class=\"dot c2\"").skip(1);
        let of_load = marks.filter(|mark| mark.contains(&format!("<title>database: {sessions}, ")));
        of_load.map(|mark| mark.split(['(', ' ']).nth(2).unwrap().to_owned()).collect()
    };
    for sessions in ["1.00", "32.0"] {
        let places = places(sessions);
        assert!(places.len() == 3 && places.iter().all(|place| *place == places[0]), "{sessions}: {places:?}");
    }
}

fn drawn(name: &str, run: &Run) -> String {
    forms::drawn(name, run).unwrap()
}

/// The chart called `name` of several runs.
fn drawn_of(name: &str, sides: &[(&Run, &Analysis)]) -> String {
    charts::named(name, sides).unwrap().file(&charts::caption(sides))
}

/// The part of a page with the chart called `name`.
fn figure_of<'a>(page: &'a str, name: &str) -> &'a str {
    page.split(&format!("data-chart=\"{name}\"")).nth(1).unwrap().split("</figure>").next().unwrap()
}

/// Two sides of four figures: one clearly more, one not decided, one without an interval, one far away.
pub(crate) fn compared(baseline: &[(&Run, &Analysis)], candidate: &[(&Run, &Analysis)]) -> String {
    let row = |name: &str, ratio: f64, interval: Option<[f64; 2]>| Difference {
        name: name.into(),
        baseline: "587".into(),
        candidate: "742".into(),
        ratio,
        interval: interval.map(|[low, high]| Interval { low, high, confidence: 0.95 }),
        remark: String::new(),
    };
    let rows = vec![
        row("blocks/s at 4", 1.26, Some([1.13, 1.56])),
        row("blocks/s at 8", 0.99, Some([0.9, 1.08])),
        row("p99 of a select at sessions 8 and a long name", 1.4, None),
        row("p50 of a select", f64::NAN, None),
    ];
    let names = ["old".into(), "new <b>".into()];
    let compared = Differences { names, sentences: vec!["FASTER: new".into(), "basis: 1".into()], margin: 0.03, rows };
    html::comparison(&compared, [baseline, candidate])
}

/// Without the style, which is the same everywhere.
fn marks(svg: &str) -> String {
    let (before, rest) = svg.split_once("<style>").unwrap();
    format!("{before}{}", rest.split_once("</style>").unwrap().1)
}

#[test]
fn latency_against_throughput_as_a_picture() {
    insta::assert_snapshot!(marks(&drawn("latency-iops", &sweep(&[1, 2, 4, 8, 16, 32]))));
}

#[test]
fn a_contrast_draws_raw_reads_next_to_the_database() {
    let run = contrast();
    let picture = marks(&drawn("latency-iops", &run));
    for name in ["raw untouched", "raw, one byte", "database, physical"] {
        assert!(picture.contains(&format!(">{name}</text>")), "{name}: {picture}");
    }
    assert!(!picture.contains("database, cached") && picture.contains("a read of 1 block"), "{picture}");
    let place = |of: &str| {
        let (before, _) = picture.split_once(&format!("<title>{of}: 4 sessions: ")).unwrap();
        let (_, place) = before.rsplit_once("translate(").unwrap();
        let (x, y) = place.split_once(')').unwrap().0.split_once(' ').unwrap();
        [x, y].map(|at| at.parse::<f64>().unwrap())
    };
    let ([raw_x, raw_y], [x, y]) = (place("raw untouched"), place("database, physical"));
    assert!(x < raw_x && y < raw_y, "the database reads less, and later: {picture}");
    let page = forms::page(&run);
    assert!(page.contains("data-chart=\"latency-iops\"") && !page.contains("data-chart=\"sessions\""));
    let both =
        charts::named("latency-iops", &[(&run, &analyze(&run)), (&sweep(&[1, 2]), &analyze(&sweep(&[1, 2])))]).unwrap();
    assert!(both.file(&[]).matches("class=\"dot c").count() == 5, "next to a sweep: {}", both.file(&[]));
    let none = charts::named("sessions", &[(&run, &analyze(&run)), (&run, &analyze(&run))]).unwrap_err().to_string();
    assert!(none.contains("these runs have: latency-iops") && !none.contains("rungs"), "no refused one: {none}");
}

#[test]
fn throughput_by_sessions_as_a_picture() {
    insta::assert_snapshot!(marks(&drawn("sessions", &sweep(&[1, 2, 4, 8]))));
}

#[test]
fn a_step_over_time_as_a_picture() {
    insta::assert_snapshot!(marks(&drawn("time", &sweep(&[4]))));
}

#[test]
fn another_level_of_throughput_is_marked_through_all_strips() {
    let made = |latency_us| Made { seconds: 80, latency_us, ..Made::default() };
    let (mut run, slower) = (made(4_000).run(), made(8_000).run());
    let step = &mut run.steps[0];
    step.unmerged.retain(|(_, report)| report.index < 42);
    step.unmerged.extend(slower.steps[0].unmerged.iter().filter(|(_, report)| report.index >= 42).cloned());
    let picture = marks(&drawn("time", &run));
    assert!(picture.contains("throughput changed its level, from 64,000 to 32,000 blocks/s."), "{picture}");
    assert_eq!(picture.matches("class=\"event\"").count(), 1, "{picture}");
    assert_eq!(picture.matches("class=\"noted at-middle\"").count(), 1, "{picture}");
    let even = marks(&drawn("time", &made(4_000).run()));
    assert!(!even.contains("another level") && !even.contains("class=\"event\""), "{even}");
}

/// The steps in sequence, with 9 s between two of them, and hooks around all.
pub(crate) fn after_each_other(mut run: Run) -> Run {
    let us = |s: i64| s * 1_000_000;
    let begin = run.steps[0].boundaries_us[0];
    let long = run.steps[0].boundaries_us.last().unwrap() - begin;
    for (at, step) in (0..).zip(&mut run.steps) {
        step.clock_offset_us = -at * (long + us(9));
    }
    let hook =
        |moment: &str, begin_us: i64, s: i64| HookRecord { moment: moment.into(), begin_us, end_us: begin_us + us(s) };
    let end = begin + run.steps.len() as i64 * (long + us(9));
    run.hooks = vec![hook("before", begin - us(12), 10), hook("after", end, 3)];
    run
}

#[test]
fn all_steps_on_one_axis_as_a_picture() {
    let run = after_each_other(sweep(&[1, 2, 4]));
    let picture = marks(&drawn("timeline", &run));
    insta::assert_snapshot!(picture);
    assert_eq!(picture.matches("class=\"edge\"").count(), 3, "{picture}");
    assert_eq!(picture.matches("class=\"event-span\"").count(), 2, "{picture}");
    let page = forms::page(&run);
    let table = figure_of(&page, "timeline");
    assert!(table.contains("<th scope=\"row\">14.0 s"), "begins after hook and warm-up: {table}");
    let one = after_each_other(sweep(&[4]));
    assert!(forms::drawn("timeline", &one).is_err(), "a single step has its own strips");
    let unknown = sweep(&[1, 2]);
    assert!(forms::drawn("timeline", &unknown).is_err(), "steps at one and the same time");
    let mut late = after_each_other(sweep(&[1, 2]));
    late.steps[1].clock_offset_us = -86_400_000_000;
    assert!(forms::drawn("timeline", &late).is_err(), "gone on with a day later");
}

#[test]
fn a_step_without_waits_keeps_its_curve_next_to_others() {
    let mut run = after_each_other(sweep(&[4, 4]));
    add(&mut run, SAMPLES, &[("read/made", 40.0)]);
    let picture = marks(&drawn("timeline", &run));
    assert!(
        picture.contains("active sessions, stacked") && picture.contains("sessions inside operations"),
        "{picture}"
    );
    run.steps.truncate(1);
    let picture = marks(&drawn("time", &run));
    assert!(picture.contains("active sessions, stacked") && !picture.contains("sessions inside"), "{picture}");
}

#[test]
fn no_name_of_a_point_lies_across_a_line_of_another_curve() {
    let number = |tag: &str, name: &str| -> f64 {
        tag.split_once(&format!(" {name}=\"")).unwrap().1.split_once('"').unwrap().0.parse().unwrap()
    };
    let ladders = [vec![1, 2, 4, 8, 16], (1..=40).collect(), vec![1, 3, 3, 2, 9, 64]];
    for run in ladders.iter().map(|steps| sweep(steps)).chain([contrast()]) {
        let picture = marks(&drawn("latency-iops", &run));
        let lines: Vec<&str> = picture.lines().filter(|line| line.starts_with("<path class=\"line ")).collect();
        // The legend has a line of each curve, too; it is above the field.
        let ends = |path: &str| -> Vec<[f64; 2]> {
            let steps = path.split(['M', 'L']).skip(1).filter_map(|place| place.split_once(' '));
            steps.filter_map(|(x, y)| Some([x.parse().ok()?, y.parse().ok()?])).collect()
        };
        let paths: Vec<_> =
            lines.iter().map(|line| ends(line.split_once("d=\"").unwrap().1.split('"').next().unwrap())).collect();
        assert!(paths.iter().any(|ends| ends.len() > 1) || run.steps.len() == 8, "{picture}");
        let mut names = 0;
        for (at, line) in picture.lines().enumerate().filter(|(_, line)| line.starts_with("<text class=\"near")) {
            let label = line.split_once('>').unwrap().1.split('<').next().unwrap();
            let (wide, x, y) = (6.0 * label.len() as f64, number(line, "x"), number(line, "y"));
            let left = if line.contains("at-end") {
                x - wide
            } else if line.contains("at-middle") {
                x - wide / 2.0
            } else {
                x
            };
            let own = picture.lines().take(at).filter(|line| line.starts_with("<path class=\"line ")).last().unwrap();
            names += 1;
            for (path, ends) in lines.iter().zip(&paths).filter(|(path, _)| **path != own) {
                for pair in ends.windows(2) {
                    let inside = (0..=1_000).map(|i| f64::from(i) / 1_000.0).any(|share| {
                        let [x, y2] = [0, 1].map(|d| pair[0][d] + (pair[1][d] - pair[0][d]) * share);
                        x > left && x < left + wide && y2 > y - 8.0 && y2 < y
                    });
                    assert!(!inside, "{label} at {x} {y} across {path}: {picture}");
                }
            }
        }
        assert!(names >= 3, "{names} names: {picture}");
    }
}

#[test]
fn the_ledger_as_a_picture() {
    insta::assert_snapshot!(marks(&drawn("ledger", &sweep(&[4]))));
}

#[test]
fn every_point_is_a_mark_and_a_row() {
    let run = sweep(&[1, 2, 4, 8, 16]);
    let page = forms::page(&run);
    let figure = figure_of(&page, "latency-iops");
    assert_eq!(figure.matches("class=\"dot c").count(), 10, "p99 and median of five steps: {figure}");
    assert_eq!(figure.matches("<tr>").count(), 11, "{figure}");
    for chart in ["latency-iops", "sessions", "mib", "cpu-cost", "time", "distribution", "ledger"] {
        assert!(page.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
    }
}

#[test]
fn a_comparison_of_runs_shows_differences_first() {
    let (mut one, mut other) = (sweep(&[1, 2, 4]), sweep(&[1, 2, 4]));
    (one.head.plan.tag, other.head.plan.tag) = (Some("old".into()), Some("new".into()));
    other.head.id = "20261121-020000-abc".into();
    other.description.as_mut().unwrap().block_bytes = 16_384;
    let (a, b) = (analyze(&one), analyze(&other));
    let page = html::page(&[(&one, &a), (&other, &b)]);
    let (differs, chart) = (page.find("What is compared").unwrap(), page.find("data-chart=\"latency-iops\"").unwrap());
    assert!(differs < chart && page.contains("16384"), "{page}");
    assert!(page.contains("old: 1 session:") && page.contains("new: 4 sessions"), "{page}");
}

#[test]
fn two_sides_show_their_settings_then_their_differences() {
    let (one, mut other) = (sweep(&[1, 2, 4]), sweep(&[1, 2, 4]));
    other.description.as_mut().unwrap().block_bytes = 16_384;
    let (a, b) = (analyze(&one), analyze(&other));
    let page = compared(&[(&one, &a)], &[(&other, &b), (&other, &b)]);
    let place = |what: &str| page.find(what).unwrap_or_else(|| panic!("no {what}: {page}"));
    let (differs, chart) = (place("What is compared"), place("data-chart=\"differences\""));
    assert!(differs < chart && chart < place("data-chart=\"latency-iops\"") && page.contains("16384"));
    assert!(page.contains("new &lt;b&gt; against old") && !page.contains("new <b>"));
    let figure = page[chart..].split("</figure>").next().unwrap();
    assert_eq!(figure.matches("class=\"dot c1\"").count(), 3, "what has no ratio has no mark: {figure}");
    assert_eq!(figure.matches("class=\"whisker c1\"").count(), 2, "{figure}");
    assert!(figure.contains("95 % interval +13 % to +56 %") && figure.contains("no interval"), "{figure}");
    let curve = figure_of(&page, "latency-iops");
    assert_eq!(curve.matches("class=\"dot c").count(), 6, "the runs of a side are one curve: {curve}");
}

#[test]
fn a_page_of_many_points_has_the_count_of_verdicts_first() {
    let side = |id: &str, offset_us| {
        let mut run = sweep(&[1, 2, 4]);
        (run.head.id, run.steps[0].clock_offset_us) = (id.into(), offset_us);
        let analysis = analyze(&run);
        vec![(run, analysis)]
    };
    let names = ["old", "new"].map(str::to_owned);
    let sides = Sides { names, baseline: side("a", 0), candidate: side("b", 1), planned: false };
    let mut compared = sides.compare(ComparedFigure::Throughput, 0.03, None).unwrap();
    compared.idle_settings = vec!["io_method".into()];
    let (text, idle) = (comparison_text(&compared, &sides, &Style::default()), "the sides differ only in io_method");
    assert!(text.starts_with(idle), "{text}");
    let sentences = differences(&sides.names, 0.03, Ok(compared)).sentences;
    assert!(sentences.len() == 3 && sentences[0].starts_with("3 points: "), "{sentences:?}");
    assert!(sentences[2].starts_with(idle), "{sentences:?}");
}

#[test]
fn every_picture_of_an_unquotable_run_is_marked() {
    let mut run = sweep(&[1, 2]);
    run.error = Some("the server went away".into());
    let page = forms::page(&run);
    assert!(page.matches("<svg").count() > 8);
    assert_eq!(page.matches("<svg").count(), page.matches(">INVALID</text>\n</svg>").count());
    assert!(drawn("latency-iops", &run).contains(">INVALID</text>"));
    let valid = Made::default().run();
    assert!(!drawn("latency-iops", &valid).contains("class=\"doubt\""));
}

#[test]
fn a_page_of_thirty_steps_fits_a_mail_so_does_one_of_500() {
    let run = after_each_other(sweep(&(1..=30).collect::<Vec<_>>()));
    let whole = forms::page(&run);
    assert!(whole.len() < 1_500_000 && whole.contains("data-chart=\"timeline\""), "{}", whole.len());
    let run = sweep(&(1..=500).map(|at| at % 50 + 1).collect::<Vec<_>>());
    let page = forms::page(&run);
    assert!(page.len() < 1_500_000 && page.contains("data-chart=\"latency-iops\""), "{}", page.len());
}

#[test]
fn a_chart_that_is_not_there_is_refused_with_those_that_are() {
    let run = Made::default().run();
    let error = forms::drawn("rungs", &run).unwrap_err().to_string();
    assert!(error.contains("nothing for the chart `rungs`") && error.contains("latency-iops"), "{error}");
    assert!(forms::drawn("pie", &run).is_err());
}

#[test]
fn an_empty_run_has_a_page() {
    let mut run = Made::default().run();
    run.steps.clear();
    (run.description, run.host, run.dataset) = (None, None, None);
    run.finished = false;
    let page = forms::page(&run);
    assert!(page.contains("INVALID") || page.contains("SUSPECT"), "{page}");
    assert!(forms::drawn("latency-iops", &run).is_err());
}

#[test]
fn points_of_different_operations_are_named_and_means_alone() {
    let large = Made { work_unit: 64, ..Made::default() }.run();
    let small = Made { work_unit: 1, latency_us: 100, ..Made::default() }.run();
    let analyses = [analyze(&large), analyze(&small)];
    let sides = [(&large, &analyses[0]), (&small, &analyses[1])];
    let text = drawn_of("latency-iops", &sides);
    assert!(text.contains("99th percentile of an operation"), "{text}");
    assert!(text.contains("a select of 64 blocks") && text.contains("a select of 1 block"), "{text}");

    let mut without = analyze(&large);
    without.steps[0].summary.ops.select.as_mut().unwrap().p99_us = None;
    without.steps[0].summary.ops.select.as_mut().unwrap().p50_us = None;
    let many = [
        (&large, &without),
        (&small, &analyses[1]),
        (&small, &analyses[1]),
        (&small, &analyses[1]),
        (&small, &analyses[1]),
    ];
    let text = drawn_of("latency-iops", &many);
    assert!(text.contains("only the mean of a select of 64 blocks is known"), "{text}");
}

#[test]
fn runs_of_different_rates_share_an_axis_of_one_unit() {
    let (own, mut imported) = (sweep(&[1, 2, 4]), sweep(&[1, 2, 4]));
    (imported.head.id, imported.head.plan.tag) = ("20261121-020000-abc".into(), Some("old".into()));
    let (own_analysis, mut without) = (analyze(&own), analyze(&imported));
    for step in &mut without.steps {
        step.reads.as_mut().unwrap().label = "reads of another tool".into();
        step.summary.blocks_visited_per_s = None;
        step.summary.read_requests_per_s = step.summary.physical_reads_per_s;
    }
    let drawn = |chart: &str, other: &Analysis| {
        let sides = [(&own, &own_analysis), (&imported, other)];
        drawn_of(chart, &sides)
    };
    for chart in ["latency-iops", "sessions"] {
        let text = drawn(chart, &without);
        assert!(text.contains("physical reads per second") && !text.contains("blocks visited per second"), "{text}");
        assert_eq!(text.matches("class=\"dot c").count(), 6, "{text}");
    }
    for step in &mut without.steps {
        (step.summary.read_requests_per_s, step.summary.physical_reads_per_s) = (None, None);
        step.summary.logical_reads_per_s = None;
        step.summary.write_requests_per_s = Some(7.0);
    }
    let text = drawn("sessions", &without);
    assert!(text.contains("Not drawn, because its physical reads per second are unknown: old."), "{text}");
}

#[test]
fn a_chart_of_one_run_is_refused_for_several() {
    let (one, other) = (sweep(&[1, 2]), sweep(&[1, 2]));
    let analyses = [analyze(&one), analyze(&other)];
    let sides = [(&one, &analyses[0]), (&other, &analyses[1])];
    for chart in ["time", "distribution", "rungs", "timeline"] {
        let error = charts::named(chart, &sides).unwrap_err().to_string();
        assert!(error.contains(&format!("the chart `{chart}` is of one run")), "{error}");
    }
}

#[test]
fn the_highest_step_of_a_mix_is_that_of_its_curve() {
    let mut run = sweep(&[4, 8]);
    // More commits of fewer blocks.
    let few = Made { sessions: 4, latency_us: 3_200, update_pct: "60", ..Made::default() };
    run.steps[0] = few.step(run.steps[0].head.clone());
    let analysis = analyze(&run);
    let [few, many] = [0, 1].map(|at| &analysis.summary.steps[at]);
    assert!(few.ops.update.as_ref().unwrap().per_s > many.ops.update.as_ref().unwrap().per_s);
    assert!(few.blocks_visited_per_s < many.blocks_visited_per_s);
    let text = forms::on_one_line(&forms::text(&run, Detail::Full, &Style::default()));
    let (_, highest) = text.split_once("highest: ").unwrap();
    let (chosen_by, place) = highest.split_once(" (step ").unwrap();
    assert!(chosen_by.contains("blocks visited per second, ") && place.starts_with("2 of 2: 8 sessions)"), "{text}");
    assert!(drawn("latency-iops", &run).contains("blocks visited per second"));
}

#[test]
fn a_doubted_run_of_several_is_marked_in_its_own_name() {
    let (valid, mut broken) = (sweep(&[1, 2]), sweep(&[1, 2, 4]));
    (broken.head.id, broken.head.plan.tag) = ("20261121-020000-abc".into(), Some("old".into()));
    broken.error = Some("the server went away".into());
    let analyses = [analyze(&valid), analyze(&broken)];
    let sides = [(&valid, &analyses[0]), (&broken, &analyses[1])];
    let text = drawn_of("latency-iops", &sides);
    assert!(text.contains("old INVALID") && !text.contains("class=\"doubt\""), "{text}");
}
