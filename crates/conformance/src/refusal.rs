//! Properties of refusals, and of how an engine describes itself.

use std::collections::HashSet;
use std::sync::Arc;

use mindful_core::contract::clock;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::plan;
use mindful_core::plan::units::Share;
use mindful_core::workload::{Commit, LoopSite, OpKind, Rate, Workload};
use mindful_core::{ErrorKind, Result};

use crate::dataset::assert_one_line;
use crate::fixture::Fixture;
use crate::slices::percent;

/// An invalid URL is an error of one line, at the latest at its first use.
pub fn a_bad_url_is_refused_in_one_line(fixture: &Fixture) {
    for url in &fixture.bad_urls {
        let events: Arc<dyn Events> = Arc::new(Silent);
        let used = fixture
            .engine
            .parse_options(url, &fixture.settings)
            .and_then(|options| options.open(0, &events))
            .and_then(|target| use_it(fixture, &*target));
        let Err(error) = used else { panic!("{url:?} was taken") };
        assert!(matches!(error.kind, ErrorKind::Plan | ErrorKind::Target), "{url:?}: {error:?}");
        assert_one_line(&error);
    }
}

fn use_it(fixture: &Fixture, target: &dyn Target) -> Result<()> {
    if fixture.can().loads {
        return target.load(&fixture.dataset, &Silent, &StopFlag::default()).map(drop);
    }
    target.prepare(&fixture.workload(), 1).map(drop)
}

/// Before the run, each kind of operation is reported with its access path, and it is the method's.
pub fn plans_are_pure_and_reported_by_kind(fixture: &Fixture) {
    let can = fixture.can();
    let update_pct = if can.updates { percent(20) } else { Share::NONE };
    let scan_pct = if can.scans { percent(20) } else { Share::NONE };
    let opened = fixture.loaded();
    for looping in fixture.loops() {
        let workload = Workload { update_pct, scan_pct, loop_site: looping, ..fixture.workload() };
        let shapes = opened.target.prepare(&workload, 2).unwrap();
        let wanted =
            [(OpKind::Select, true), (OpKind::Update, !update_pct.is_none()), (OpKind::Scan, !scan_pct.is_none())];
        for (kind, runs) in wanted {
            let of_kind: Vec<_> = shapes.iter().filter(|shape| shape.kind == kind.name()).collect();
            assert_eq!(!of_kind.is_empty(), runs, "{}: {shapes:?}", kind.name());
            assert!(of_kind.iter().all(|shape| shape.pure && !shape.shape.is_empty()), "{of_kind:?}");
        }
    }
}

/// More schemas, blocks or scans than are loaded are refused before anything runs.
pub fn work_beyond_the_dataset_is_refused(fixture: &Fixture) {
    let workload = fixture.workload();
    let target = fixture.open();
    refused(&*target, &workload, "work before a load");
    let mut plain = fixture.dataset.clone();
    plain.scan_blocks = 0;
    target.load(&plain, &Silent, &StopFlag::default()).unwrap();
    target.prepare(&workload, 1).unwrap();
    refused(&*target, &Workload { schemas: workload.schemas + 1, ..workload.clone() }, "more schemas");
    refused(&*target, &Workload { scale: workload.scale + 1, ..workload.clone() }, "a larger scale");
    refused(&*target, &Workload { scan_pct: percent(10), ..workload }, "scans without a scan table");
}

/// Excluded features are refused, claimed ones are accepted.
pub fn capabilities_are_honest(fixture: &Fixture) {
    let can = fixture.can();
    let plain = fixture.workload();
    let updating = Workload { update_pct: percent(20), ..plain.clone() };
    let opened = fixture.loaded();
    let target = &*opened.target;
    let claims = [
        (can.updates, "updates", updating.clone()),
        (can.scans, "scans", Workload { scan_pct: percent(20), ..plain.clone() }),
        (can.server_side_loop, "server-side loop", Workload { loop_site: LoopSite::Server, ..plain.clone() }),
        (can.client_side_loop, "client-side loop", Workload { loop_site: LoopSite::Client, ..plain.clone() }),
    ];
    for (has, what, workload) in claims {
        held(target, has, what, &workload);
    }
    if can.updates {
        held(target, can.commit_modes, "commits less often", &Workload { commit: Commit::Every(5), ..updating });
    }
    if can.client_side_loop {
        let rate = Some(Rate { per_s: 100.0, even: false });
        held(target, can.rate, "a rate", &Workload { rate, loop_site: LoopSite::Client, ..plain });
    }
}

fn held(target: &dyn Target, has: bool, what: &str, workload: &Workload) {
    if !has {
        refused(target, workload, what);
    } else if let Err(error) = target.prepare(workload, 1) {
        panic!("{what}: claimed and refused: {error}");
    }
}

fn refused(target: &dyn Target, workload: &Workload, what: &str) {
    match target.prepare(workload, 1) {
        Ok(_) => panic!("{what} was taken"),
        Err(error) => {
            assert!(matches!(error.kind, ErrorKind::Plan | ErrorKind::Target), "{what}: {error:?}");
            assert_one_line(&error);
        }
    }
}

/// Version, block length, place and clock are reported.
pub fn the_target_describes_itself(fixture: &Fixture) {
    let opened = fixture.loaded();
    let described = opened.target.describe().unwrap();
    assert!(!described.engine_version.is_empty() && described.endpoints >= 1, "{described:?}");
    assert!(described.block_bytes.is_power_of_two(), "blocks of {} bytes", described.block_bytes);
    let host = opened.target.host_view();
    assert!(host.local || (host.server_pid.is_none() && !host.in_process), "{host:?}");
    for path in &host.data_paths {
        assert!(path.exists(), "{} is not there", path.display());
    }
    let clock = || opened.target.clock_us().unwrap();
    let (first, second) = (clock(), clock());
    assert!(first <= second, "the target's clock went back");
    assert!(first.abs_diff(clock::now_us()) < 86_400_000_000, "the target's clock is a day off");
}

/// Option names are unique, in snake case, and not keys of the plan. Each has a help text.
pub fn options_are_named_and_reported(fixture: &Fixture) {
    let mut names: HashSet<&str> = plan::KEYS.iter().map(|key| key.name).collect();
    for key in fixture.engine.options() {
        assert!(names.insert(key.name), "{} is named twice", key.name);
        let plain = key.name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(plain && !key.help.is_empty() && !key.help.ends_with('.'), "{}: {}", key.name, key.help);
    }
    let summary = fixture.engine.facts().summary;
    assert!(!summary.is_empty() && !summary.contains('\n'), "{summary:?}");
    for scheme in fixture.engine.facts().schemes {
        assert!(!scheme.is_empty() && !scheme.contains(':'), "{scheme:?}");
    }
}

/// Runs with all of these settings (`NAME = VALUE`), and searches for those that prevent it. The error has to name each of
/// them. Returns their names.
pub fn refused_settings(settings: &[String], runs: &dyn Fn(&[String]) -> Result<()>) -> Vec<String> {
    let Err(error) = runs(settings) else { return Vec::new() };
    if let [setting] = settings {
        let name = setting.split(' ').next().unwrap_or_default();
        let words = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
        assert!(words(&error.to_string()).contains(&words(name)), "{setting} is not named: {error}");
        return vec![name.to_owned()];
    }
    let (half, rest) = settings.split_at(settings.len() / 2);
    let names = [half, rest].map(|part| refused_settings(part, runs)).concat();
    assert!(!names.is_empty(), "only together {settings:?} fail: {error}");
    names
}
