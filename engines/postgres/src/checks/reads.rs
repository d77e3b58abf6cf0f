//! Checks of the layers between an operation and the storage.

use mindful_core::plan::units::format_bytes;
use mindful_core::result::Finding;
use mindful_core::workload::Access;

use super::state::State;
use crate::checks::idle_settings;
use crate::codes;
use crate::private::is_direct_io;

/// Below this, huge pages change nothing that can be measured.
const LARGE_CACHE: f64 = (1_u64 << 30) as f64;

/// Share of the active set that shared buffers hold, if every block is visited equally often.
fn hit_ratio(state: &State) -> Option<f64> {
    let active = state.planned.active_bytes as f64;
    state.number("shared_buffers").filter(|_| active > 0.0).map(|cache| (cache / active).min(1.0))
}

pub(super) fn predicted_hits(state: &State) -> Option<Finding> {
    let ratio = hit_ratio(state)?;
    let held = if state.planned.uniform { "" } else { " or more, for some blocks are visited more often" };
    let text = if ratio >= 1.0 {
        "shared_buffers can hold all blocks that the operations visit, so the run measures the cache and not \
         storage. There will be no storage figure. For storage, use a larger --scale, or ALTER SYSTEM SET \
         shared_buffers = …"
    } else {
        "shared_buffers will serve this share of visits; only the others are physical reads. A larger --scale or \
         smaller shared_buffers lower it"
    };
    let evidence = format!(
        "predicted hit ratio {:.1} %{held}: shared_buffers {} for an active set of {}",
        ratio * 100.0,
        bytes(state.number("shared_buffers")?),
        format_bytes(state.planned.active_bytes)
    );
    Some(codes::PREDICTED_HITS.finding(text, evidence))
}

/// Reads are buffered, and memory is left for the data.
pub(super) fn page_cache_ahead(state: &State) -> Option<Finding> {
    let available = state.available_bytes?;
    let direct = state.text("debug_io_direct").is_some_and(is_direct_io);
    let active = state.planned.active_bytes;
    let cached = hit_ratio(state).is_some_and(|ratio| ratio >= 1.0);
    if direct || cached || active == 0 || available < active / 20 {
        return None;
    }
    let share = 100.0 * (available as f64 / active as f64).min(1.0);
    let text = "Reads pass the page cache, so a physical read of the database may come from memory. To bypass it, \
                use direct I/O (debug_io_direct = data, the private server's default), --page-cache-limit, or \
                `mindful squeeze`";
    let evidence = format!(
        "reads are buffered; {} of memory can hold {share:.0} % of an active set of {}",
        format_bytes(available),
        format_bytes(active)
    );
    Some(codes::PAGE_CACHE_AHEAD.finding(text, evidence))
}

pub(super) fn read_ahead(state: &State) -> Option<Finding> {
    state.planned.scans.then(|| {
        let shown = |name: &str| state.text(name).map(|text| format!("{name} = {text}"));
        let settings: Vec<_> = ["effective_io_concurrency", "io_method", "io_combine_limit"]
            .iter()
            .filter_map(|name| shown(name))
            .collect();
        let text = "Scans read several blocks in one request and ahead of their use, so their reads are not single \
                    random blocks. Single-block operations are not affected. io_combine_limit = 8kB and \
                    effective_io_concurrency = 0 turn it off";
        codes::SERVER_SETTING.finding(text, settings.join(", "))
    })
}

/// A given setting does not affect the measurement.
pub(super) fn idle_settings(state: &State) -> Option<Finding> {
    let (server, planned) = (state.reads.as_ref()?, &state.planned);
    let selects = planned.access != Access::Scan;
    let paths = [(selects, false), (planned.scans, true)].into_iter().filter(|(taken, _)| *taken);
    let paths: Vec<_> = paths.map(|(_, scans)| server.of_path(planned.access, scans)).collect();
    let idle = |name: &String| {
        let whys: Option<Vec<_>> = paths.iter().map(|path| idle_settings::why(name, path)).collect();
        whys?.first().map(|why| format!("{name}: {why}"))
    };
    let found: Vec<String> = state.given_settings.iter().filter_map(idle).collect();
    (!found.is_empty()).then(|| {
        let text = "A setting was given that the measured access path does not use, so its value changes nothing. \
                    Measure a path that uses it: --access bitmap reads ahead and several blocks at once from version \
                    18 on, --access scan from 17 on, and workers need --set io_method=worker";
        codes::PG_IDLE_SETTINGS.finding(text, found.join("; "))
    })
}

pub(super) fn checksums(state: &State) -> Option<Finding> {
    state.is("data_checksums", "off").then(|| {
        let text = "Blocks are not checked when they are read, so a read takes less CPU than with checksums, the \
                    default since PostgreSQL 18. To add them, run pg_checksums --enable on the stopped server";
        codes::SERVER_SETTING.finding(text, "data_checksums = off")
    })
}

pub(super) fn huge_pages(state: &State) -> Option<Finding> {
    let cache = state.number("shared_buffers").filter(|cache| *cache >= LARGE_CACHE)?;
    let off = state.is("huge_pages_status", "off")
        || (state.text("huge_pages_status").is_none() && state.is("huge_pages", "off"));
    off.then(|| {
        let text = "shared_buffers are in pages of 4 KiB, so each cached read takes more CPU (TLB misses). Use huge \
                    pages: sysctl vm.nr_hugepages=…, huge_pages = on";
        codes::SERVER_SETTING.finding(text, format!("huge pages are not used for {} of shared_buffers", bytes(cache)))
    })
}

fn bytes(bytes: f64) -> String {
    format_bytes(bytes as u64)
}
