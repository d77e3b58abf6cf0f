//! Sweeps, steady runs and comparisons on the null engine in simulated time: hours in milliseconds, the same twice.

use std::collections::BTreeSet;
use std::time::Duration;

use mindful_analyze::analyze;
use mindful_analyze::compare::{self, ComparedFigure, Question, Verdict, run_value};
use mindful_analyze::judgement::ledger::LedgerRow;
use mindful_core::contract::clock::Time;
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::{Finding, Summary, Validity};
use mindful_runner::Ended;

use crate::simulation::Simulation;

/// The outcome of a run, without its times and ids.
fn figures(summary: &Summary) -> String {
    format!("{:#?}", Summary { id: String::new(), started_at: String::new(), ..summary.clone() })
}

const LADDER: [(&str, &str); 5] =
    [("sessions", "1..64"), ("work_unit", "1"), ("duration", "30s"), ("null_latency", "10ms"), ("null_capacity", "8")];

#[test]
fn a_ladder_finds_the_knee_of_a_hard_cap_the_same_way_twice() {
    let swept = || {
        let simulation = Simulation::new();
        let ended = simulation.sweep(&[&LADDER[..], &[("null_spread", "0.5")]].concat(), None);
        assert_eq!(simulation.store().ids().unwrap().len(), 1, "a sweep is one folder");
        ended.analysis.summary
    };
    let first = swept();
    let knee = first.knee.as_ref().unwrap().asymptote_sessions.unwrap();
    assert!((7.0..9.0).contains(&knee), "a cap of 8 servers, knee at {knee}");
    assert!(first.steps.last().unwrap().point.drift_check);
    assert_eq!(figures(&swept()), figures(&first));
}

/// With 8 servers an operation of one in a thousand takes 1.25 s, longer than a slice.
#[test]
fn a_thousand_sessions_of_a_slow_target_lose_no_time() {
    let slow = [("sessions", "1000"), ("work_unit", "1"), ("null_latency", "10ms"), ("null_capacity", "8")];
    let ended = Simulation::new().run(&[&slow[..], &[("warmup", "5s"), ("duration", "30s")]].concat());
    let (step, found) = (&ended.analysis.summary.steps[0], &ended.analysis.steps[0]);
    assert_eq!(step.duration_s, Some(30.0));
    let select = step.ops.select.as_ref().unwrap();
    assert!(select.mean_us.unwrap() > 1.2e6, "{select:?}");
    assert!((select.per_s / 800.0 - 1.0).abs() < 0.02, "{select:?}");
    let breach = found.evidence.little_breach.unwrap();
    assert!(breach <= 0.05, "{breach} of the time outside of operations");
    assert!(finding(&ended, "little").is_none() && finding(&ended, "short-window").is_none());
}

#[test]
fn a_grid_measures_every_point_and_the_first_one_again() {
    let simulation = Simulation::new();
    let ended = simulation.sweep(&[("sessions", "1,2"), ("update_pct", "0,50"), ("null_latency", "10ms")], None);
    let steps = &ended.analysis.summary.steps;
    let points: BTreeSet<_> = steps.iter().map(|s| (s.sessions, s.update_pct.map(|pct| pct as u32))).collect();
    assert_eq!((points.len(), steps.len()), (4, 5));
}

#[test]
fn an_interrupted_sweep_continues_and_loses_nothing() {
    let simulation = Simulation::new();
    let given = [("sessions", "1,2,3,4,5,6"), ("duration", "30s"), ("null_latency", "10ms")];
    simulation.stop_at(Duration::from_secs(100));
    let cut = simulation.sweep(&given, None);
    assert!(cut.interrupted && cut.error.is_none());
    let kept: Vec<_> = cut.run.steps.iter().filter(|step| step.finished()).cloned().collect();
    assert_eq!((kept.len(), cut.run.steps.len()), (3, 4), "the fourth was under way");
    let rest = simulation.again();
    let resumed = rest.store().go_on(&cut.run.head.id).unwrap();
    let ended = rest.sweep(&given, Some(resumed));
    let sessions: BTreeSet<_> = ended.analysis.summary.steps.iter().filter_map(|step| step.sessions).collect();
    assert_eq!((sessions.len(), ended.run.steps.len()), (6, 7), "six steps and the drift check");
    assert!(ended.run.finished && ended.run.steps[..3] == kept[..]);
}

#[test]
fn a_budget_leaves_out_steps_that_do_not_fit_and_names_them() {
    let simulation = Simulation::new();
    let ladders = [("sessions", "1..64"), ("update_pct", "0,20"), ("null_latency", "10ms"), ("duration", "17s")];
    let ended = simulation.sweep(&[&ladders[..], &[("budget", "200s")]].concat(), None);
    assert!(simulation.clock.elapsed() <= Duration::from_secs(200), "{:?}", simulation.clock.elapsed());
    let of = |pct: &str| {
        let steps = ended.analysis.summary.steps.iter();
        steps.filter(|step| step.point.values["update_pct"] == pct).count()
    };
    assert!(of("0").abs_diff(of("20")) <= 1 && of("0") >= 4, "{} and {} steps", of("0"), of("20"));
    simulation.notes.find("the budget is used up; the steps that follow from sessions").unwrap();
}

#[test]
fn the_highest_load_that_meets_an_objective_is_found() {
    let simulation = Simulation::new();
    // 4 servers of 10 ms: with N sessions an operation takes 10 N / 4 ms beyond the cap.
    let given = [("sessions", "1..64"), ("max_iops_at", "p50<=30ms"), ("null_latency", "10ms"), ("null_capacity", "4")];
    simulation.sweep(&[&given[..], &[("work_unit", "1"), ("duration", "30s")]].concat(), None);
    let line = simulation.notes.find("is the highest load that meets p50<=30ms, confirmed").unwrap();
    assert!(line.contains("misses it: the limit lies between: p50 ") && line.contains(" blocks/s ("), "{line}");
    let load: u32 = line.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((11..=12).contains(&load), "{line}");
}

/// In a search with operations of different length, throughput and percentile have an interval; a trial of a few
/// seconds has none.
#[test]
fn the_figures_of_the_load_found_have_intervals() {
    let given = [("sessions", "1..16"), ("null_latency", "10ms"), ("null_capacity", "4"), ("null_spread", "0.5")];
    let found = |duration: &'static str| {
        let simulation = Simulation::new();
        let more = [("work_unit", "1"), ("max_iops_at", "p95<=40ms"), ("duration", duration)];
        let summary = simulation.sweep(&[&given[..], &more].concat(), None).analysis.summary;
        let found = summary.objective.clone().unwrap();
        let line = simulation.notes.find(" is the highest load that meets p95<=40ms, confirmed").unwrap();
        assert_eq!(line.split(' ').nth(1), Some(&*format!("{:.0}", found.load)), "{line}");
        let step = &summary.steps[found.step as usize - 1];
        assert_eq!((step.point.pass, f64::from(step.sessions.unwrap())), (1, found.load));
        assert_eq!(step.blocks_visited_per_s, found.blocks_visited_per_s);
        assert_eq!(step.ops.select.as_ref().unwrap().p95_us, found.latency_us);
        found
    };
    let known = found("60s");
    for (figure, interval) in [
        (known.blocks_visited_per_s, known.blocks_visited_per_s_interval),
        (known.latency_us, known.latency_us_interval),
    ] {
        let (figure, [low, high]) = (figure.unwrap(), interval.unwrap_or_else(|| panic!("{known:?}")));
        assert!(low <= figure && figure <= high && high < 1.3 * low, "{known:?}");
    }
    let [low, high] = known.blocks_visited_per_s_interval.unwrap();
    assert!(low < high, "{known:?}");
    let short = found("6s");
    assert_eq!((short.blocks_visited_per_s_interval, short.latency_us_interval), (None, None));
    assert!(short.blocks_visited_per_s.is_some() && short.latency_us.is_some());
}

/// One session does 50 operations a second; its p99 takes 1,000.
#[test]
fn an_unknown_percentile_is_measured_longer_or_left_undecided() {
    let given = [("sessions", "1..4"), ("null_latency", "20ms"), ("work_unit", "1")];
    let simulation = Simulation::new();
    let ended = simulation.sweep(&[&given[..], &[("max_iops_at", "p99<=25ms"), ("duration", "6s")]].concat(), None);
    let lengths: Vec<_> = ended.analysis.summary.steps.iter().map(|step| step.duration_s.unwrap().round()).collect();
    assert_eq!(lengths[..2], [2.0, 24.0], "{lengths:?}");
    simulation.notes.find("sessions 4 is the highest load that meets p99<=25ms, confirmed, the highest tried").unwrap();

    let simulation = Simulation::new();
    let ended = simulation.sweep(&[&given[..], &[("max_iops_at", "p99<=25ms"), ("duration", "300ms")]].concat(), None);
    let undecided = finding(&ended, "objective-undecided").unwrap();
    assert!(
        undecided.evidence.starts_with("p99<=25ms needs 1,000 operations, and 1 session did 5 in 0.1 s"),
        "{}",
        undecided.evidence
    );
    assert_eq!(ended.analysis.summary.validity, Validity::Invalid);

    let simulation = Simulation::new();
    simulation.sweep(&[&given[..], &[("max_iops_at", "p50<=10ms"), ("duration", "6s")]].concat(), None);
    simulation.notes.find("not even sessions 1 meets p50<=10ms: p50 20.").unwrap();
}

#[test]
fn the_highest_rate_that_meets_an_objective_is_the_known_one() {
    let simulation = Simulation::new();
    // Eight sessions that serve an operation in 40 ms carry 200 a second; each has its own queue, which grows earlier.
    let given = [("sessions", "8"), ("rate", "40..800"), ("max_iops_at", "p50<=300ms"), ("null_latency", "40ms")];
    let ended = simulation.sweep(&[&given[..], &[("work_unit", "1"), ("duration", "60s")]].concat(), None);
    let line = simulation.notes.find("is the highest load that meets p50<=300ms, confirmed").unwrap();
    let rate: f64 = line.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((140.0..=205.0).contains(&rate), "{line}");
    let steps = &ended.analysis.summary.steps;
    let full = steps.iter().filter(|step| step.point.pass == 1 && step.point.values["rate"] == format!("{rate:.0}"));
    let met = full.map(|step| step.ops.select.as_ref().and_then(|op| op.p50_us).unwrap() <= 300_000.0);
    assert!(met.collect::<Vec<_>>().contains(&true));
}

const STEADY: [(&str, &str); 6] = [
    ("steady", "on"),
    ("sessions", "20"),
    ("work_unit", "1"),
    ("duration", "60s"),
    ("null_latency", "50ms"),
    ("null_spread", "0.3"),
];

fn steady(given: &[(&str, &str)]) -> Ended {
    Simulation::new().run(&[&STEADY[..], given].concat())
}

fn finding<'a>(ended: &'a Ended, code: &str) -> Option<&'a Finding> {
    ended.analysis.summary.findings.iter().find(|finding| finding.code == code)
}

#[test]
fn a_step_ends_when_it_is_steady_and_leaves_its_start_out() {
    let level = steady(&[("steady_cap", "10m")]);
    let settling = steady(&[("steady_cap", "10m"), ("null_signal", "ramp:0.4:15s")]);
    for ended in [&level, &settling] {
        assert!(finding(ended, "not-steady").is_none(), "{:?}", ended.analysis.summary.findings);
        let measured = ended.analysis.summary.steps[0].duration_s.unwrap();
        assert!((59.0..500.0).contains(&measured), "ended without a cap, after a whole window: {measured}");
    }
    let rate = |ended: &Ended| ended.analysis.summary.steps[0].blocks_visited_per_s.unwrap();
    assert!((rate(&settling) / rate(&level) - 2.5).abs() < 0.05, "{} {}", rate(&settling), rate(&level));
}

#[test]
fn a_step_that_never_is_steady_names_the_reason() {
    let restless = [
        ([("steady_cap", "10m"), ("null_signal", "ramp:8:1200s")], "throughput moved by"),
        ([("steady_cap", "10m"), ("null_signal", "cycle:40%:20s")], "a cycle of"),
        ([("steady_cap", "85s"), ("null_signal", "step:2@45s")], "blocks/s at "),
    ];
    for (given, reason) in restless {
        let ended = steady(&given);
        assert_eq!(ended.analysis.summary.validity, Validity::Suspect);
        let evidence = &finding(&ended, "not-steady").unwrap().evidence;
        assert!(evidence.contains(reason), "{given:?}: {evidence}");
    }
    let filling = steady(&[("steady_cap", "75s"), ("null_hit_ratio", "80"), ("null_cache_fill", "120s")]);
    assert!(finding(&filling, "not-steady").unwrap().evidence.contains("the hit ratio"));
}

/// Twenty runs, A B B A, of two latencies; the verdict on B.
fn compared(a: &str, b: &str) -> (Verdict, f64) {
    let mut sides = [Vec::new(), Vec::new()];
    for (turn, side) in [0, 1, 1, 0].repeat(5).into_iter().enumerate() {
        let (seed, latency) = ((turn + 1).to_string(), [a, b][side]);
        let given = [("duration", "60s"), ("sessions", "4"), ("work_unit", "1"), ("null_spread", "0.3")];
        let ended = Simulation::new().run(&[&given[..], &[("null_latency", latency), ("seed", &seed)]].concat());
        let (step, record) = (&ended.analysis.steps[0], &ended.run.steps[0]);
        sides[side].push(run_value(ComparedFigure::Throughput, &ended.run, (record, step)).unwrap());
    }
    let compared =
        compare::compare_runs(&sides[0], &sides[1], &Question { margin: 0.03, ..Question::default() }).unwrap();
    (compared.verdict, compared.ratio)
}

#[test]
fn twenty_runs_in_turn_separate_faster_from_equal() {
    let (verdict, ratio) = compared("10ms", "9ms");
    assert_eq!(verdict, Verdict::Faster);
    assert!((ratio - 10.0 / 9.0).abs() < 0.02, "{ratio}");
    assert_eq!(compared("10ms", "10ms").0, Verdict::NoMeaningfulDifference);
}

fn reports(run: &Run) -> u64 {
    run.steps.iter().flat_map(StepRecord::reports).map(SliceReport::total_ops).sum()
}

#[test]
fn a_stall_is_found_where_it_was_and_a_clean_run_has_none() {
    let stalls = |stall: &'static str| {
        let given = [("sessions", "4"), ("duration", "30s"), ("null_latency", "1ms"), ("work_unit", "1")];
        let stalled = [&given[..], &[("null_stall", stall)]].concat();
        let simulated = Simulation::new().run(if stall.is_empty() { &given } else { &stalled });
        analyze(&simulated.run).summary.findings.into_iter().find(|finding| finding.code == "stall")
    };
    assert_eq!(stalls(""), None);
    assert_eq!(stalls("10s+300ms"), None, "shorter than half a second");
    let evidence = stalls("20s+3s").unwrap().evidence;
    assert!(evidence.starts_with("3.00 s from 20.00 s"), "{evidence}");
    assert!(evidence.contains("all 4 sessions at once; 10.0 % of the window"), "{evidence}");
    assert!(evidence.contains("3,600 blocks/s with it, 4,000 in the slices without"), "{evidence}");
    let evidence = stalls("every:5s+700ms").unwrap().evidence;
    assert!(evidence.contains(" times, ") && evidence.contains("the longest 0.70 s"), "{evidence}");
}

#[test]
fn sessions_start_together_however_long_orders_take() {
    let given = [("sessions", "1000"), ("duration", "3s"), ("null_latency", "200ms"), ("null_order", "5ms")];
    let ended = Simulation::new().run(&given);
    let window = analyze(&ended.run).steps[0].window.unwrap();
    assert_eq!(window.start_skew_us, 0, "sessions began late");
    assert!((window.seconds() - 3.0).abs() < 1e-6, "{} s", window.seconds());
}

#[test]
fn late_counters_belong_to_the_window_of_their_work() {
    let long =
        [("sessions", "50"), ("duration", "10s"), ("warmup", "3s"), ("null_hit_ratio", "30"), ("null_spread", "0.5")];
    let analysis = |latency: &'static str| {
        let ended = Simulation::new().run(&[&long[..], &[("null_latency", latency)]].concat());
        analyze(&ended.run)
    };
    // An operation outlasts its slice, and counters read after a boundary include other operations than those that
    // began before it.
    let late = analysis("1400ms");
    let [_, visited, logical, physical, ..] = &late.steps[0].ledger.reads[..] else { panic!("no ledger") };
    let ratio = |row: &LedgerRow| row.per_s.unwrap() / visited.per_s.unwrap();
    assert!((ratio(logical) - 1.0).abs() < 0.005, "{}", ratio(logical));
    assert!((ratio(physical) - 0.7).abs() < 0.005, "{}", ratio(physical));
    assert!(physical.gap.as_ref().unwrap().contains("published late"), "{physical:?}");
    let prompt = analysis("2ms");
    assert!(!format!("{:?}", prompt.steps[0].ledger).contains("published late"));
}

#[test]
fn the_end_of_a_burst_is_reported_with_both_rates() {
    let cliff = |signal: &'static str| {
        let given = [("sessions", "4"), ("duration", "60s"), ("null_latency", "1ms"), ("work_unit", "1")];
        let ended = Simulation::new().run(&[&given[..], &[("null_signal", signal)]].concat());
        finding(&ended, "cliff").map(|finding| finding.evidence.clone())
    };
    let evidence = cliff("step:5@41s").unwrap();
    assert!(
        evidence.starts_with("held 4000 blocks/s for 41.0 s, 800 since, for 19.0 s and level within"),
        "{evidence}"
    );
    // A cap of 3,000 requests a second, as gp3 has, and the noise of a platform in addition to the fall.
    let evidence = cliff("step:1.3333@30s").unwrap_or_default();
    assert!(evidence.is_empty(), "a quarter less is no cliff: {evidence}");
    let evidence = cliff("step:4@30s,ar1:0.3:2%").unwrap();
    assert!(evidence.contains(" blocks/s for 30.0 s, ") && evidence.contains("requests/s"), "{evidence}");
    for level in ["ramp:5:40s", "cycle:40%:20s", "ar1:0.6:20%", "step:0.2@30s"] {
        assert_eq!(cliff(level), None, "{level}");
    }
}

/// Sessions of the simulation ignore an interrupt until their stall is over: the target is given up, and its sweep ends.
#[test]
fn operations_without_end_are_ended_and_called_so() {
    let given = [("duration", "5s"), ("null_latency", "10ms"), ("null_stall", "2s+60m")];
    let run = Simulation::new().run(&[&given[..], &[("sessions", "4")]].concat());
    let sweep = Simulation::new().sweep(&[&given[..], &[("sessions", "1,2,4")]].concat(), None);
    for ended in [run, sweep] {
        let error = ended.error.as_ref().unwrap().to_string();
        assert!(error.starts_with("operations continued for 60 s after the end of the step"), "{error}");
        assert!(!ended.interrupted && finding(&ended, "interrupted").is_none(), "its end was not requested");
        assert_eq!(ended.run.steps.len(), 1, "nothing more can be asked of it");
    }
}

#[test]
fn faults_come_at_their_seconds_and_the_same_way_twice() {
    let faulty = || {
        let given = [("sessions", "4"), ("duration", "60s"), ("null_latency", "10ms"), ("null_stall", "20s+3s")];
        Simulation::new().run(&[&given[..], &[("null_fail", "2@40500ms"), ("work_unit", "1")]].concat())
    };
    let (first, again) = (faulty(), faulty());
    let ended = first.error.as_ref().unwrap().to_string();
    assert!(ended.starts_with("session 3: the null engine ended it at 40.5 s"), "{ended}");
    assert_eq!(first.run.steps, again.run.steps);
    // Until the failure each session does 100 operations a second, but none in the three seconds of the stall.
    assert!((reports(&first.run) as f64 / (4.0 * 37.5 * 100.0) - 1.0).abs() < 0.05, "{}", reports(&first.run));
    let slowest = first.run.steps[0].reports().map(|r| r.ops[0].latency.max_ns).max().unwrap();
    assert!((slowest as f64 / 3.0e9 - 1.0).abs() < 0.02, "{slowest} ns");
}

/// Polls of each of so many sessions in a run that is stopped in the middle: each is woken only for its own events.
fn polls_of_each(sessions: u64) -> f64 {
    let simulation = Simulation::new();
    simulation.stop_at(Duration::from_millis(3_500));
    let count = sessions.to_string();
    let given = [("sessions", &*count), ("duration", "10s"), ("null_latency", "50ms"), ("null_spread", "0.5")];
    let ended = simulation.run(&given);
    assert!(ended.interrupted && ended.error.is_none());
    simulation.clock.polls() as f64 / sessions as f64
}

#[test]
fn ending_wakes_each_session_as_often_among_many_as_among_few() {
    let (few, many) = (polls_of_each(32), polls_of_each(256));
    assert!(many < few * 2.0, "{few:.1} polls of each of 32 sessions, {many:.1} for each of 256");
}
