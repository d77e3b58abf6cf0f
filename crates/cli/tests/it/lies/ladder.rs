//! Ladders with steps of different work: a knee over them has no meaning.

use crate::mindful::report::Report;
use crate::mindful::{Mindful, Words};
use mindful_conformance::place;

fn sweep(mindful: &Mindful, args: impl Words) -> Report {
    let server = "sweep --format json --target embedded --scale 16MiB --set shared_buffers=2MB --schemas 4";
    mindful.report(&mindful.private((server, "--warmup 500ms --think-time 10ms..10ms", args)))
}

fn hit_ratios(swept: &Report) -> Vec<(u64, f64)> {
    let steps = swept.run["steps"].as_array().unwrap();
    // Of the blocks that the operations visited: reads of the catalogue, which others cause too, are hits.
    let of = |step: &serde_json::Value| {
        let share = 1.0 - step["physical_reads_per_s"].as_f64()? / step["blocks_visited_per_s"].as_f64()?;
        Some((step["sessions"].as_u64()?, share))
    };
    steps.iter().filter_map(of).collect()
}

fn fewest_operations(swept: &Report) -> u64 {
    let steps = swept.run["steps"].as_array().unwrap();
    steps.iter().map(|step| step["ops"]["select"]["count"].as_u64().unwrap_or(0)).min().unwrap_or(0)
}

#[test]
fn few_sessions_find_no_more_in_the_cache_than_many() {
    let mindful = Mindful::beside_others(place()).with_private();
    // On a busy host counters may be read too late for a window, and few operations have few hits: a longer window has
    // more of both.
    let ladder = |duration| sweep(&mindful, format!("--sessions 1,2,8 --duration {duration}"));
    let enough = |swept: &Report| hit_ratios(swept).len() >= 4 && fewest_operations(swept) >= 150;
    let swept = ["3s", "6s"].into_iter().map(ladder).find(enough).unwrap_or_else(|| ladder("12s"));
    let ratios = hit_ratios(&swept);
    assert!(ratios.len() >= 4 && ratios.iter().any(|(sessions, _)| *sessions == 1), "{ratios:?} {swept}");
    let least = ratios.iter().map(|(_, ratio)| *ratio).fold(1.0, f64::min);
    let most = ratios.iter().map(|(_, ratio)| *ratio).fold(0.0, f64::max);
    // One session in one of the four schemas would have found an eighth of its blocks in the cache, four times the true
    // share.
    assert!(most - least < 0.06 && most < 0.12, "{ratios:?}");
    assert!(!swept.has("steps-not-alike"), "{swept}");

    // An old kit's sessions stay in their schemas: then the report has the ladder, and no knee.
    let kit = "--sessions 1,2,4 --like slob --loop client";
    let ladder = |duration| sweep(&mindful, format!("{kit} --duration {duration}"));
    // An invalid sweep is reported as invalid first: on a busy host short windows may end late.
    let judged = |swept: &Report| swept.validity() != "invalid";
    let swept = ["2s", "6s"].into_iter().map(ladder).find(judged).unwrap_or_else(|| ladder("12s"));
    swept.assert_suspect_of("steps-not-alike", "by 1 session,");
    let knee = &swept.run["knee"];
    assert!(knee["model"].is_null() && knee["why_not"].as_str().unwrap().contains("the steps differ"), "{knee:#}");
    assert!(swept.text.contains("the steps differ"), "{swept}");
}
