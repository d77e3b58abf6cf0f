//! Checks of the sizes of file and cache, before anything runs.

use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::plan::units::format_bytes;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

/// Predicted share of block visits that the sessions' own caches of `cache_bytes` serve: each session works on one
/// schema. `None` without blocks.
pub(crate) fn predicted_hits(
    plan: &Plan,
    loaded: Option<&Dataset>,
    cache_bytes: u64,
    page_bytes: u64,
) -> Option<Finding> {
    let active = plan.blocks_visited(loaded, page_bytes) * page_bytes;
    let index = loaded.map_or(0, |loaded| loaded.index_bytes.unwrap_or(0) / u64::from(loaded.schemas.max(1)));
    let room = cache_bytes.saturating_sub(index);
    let share = (active > 0).then(|| (room as f64 / active as f64).min(1.0))?;
    let (bound, text) = if plan.sessions > 1 && !plan.update_pct.is_none() {
        (
            " or less, for a commit of one session empties the caches of the others",
            "A session drops cached pages that others may have changed, so most visits will be reads of the file, \
             however large the caches. For hits: --sessions 1, or --update-pct 0",
        )
    } else if share >= 1.0 {
        (
            "",
            "Each session's cache holds all blocks it visits: the run measures SQLite and the CPU, no storage. For \
             storage: a larger --scale or a smaller --cache",
        )
    } else {
        (
            if plan.visits_evenly() { "" } else { " or more, for some blocks are visited more often" },
            "The sessions' own caches will serve a share of visits; only the others are reads of the file. A larger \
             --scale or a smaller --cache lower it",
        )
    };
    let evidence = format!(
        "predicted share of hits {:.1} %{bound}: a cache of {} for each session, {} in a schema",
        share * 100.0,
        format_bytes(cache_bytes),
        format_bytes(active)
    );
    Some(codes::PREDICTED_HITS.finding(text, evidence))
}
