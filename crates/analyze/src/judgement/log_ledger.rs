//! The ledger of the log: from commits to the device that they wait for. Ratios are by commits.

use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::Run;
use mindful_core::result::StepSummary;

use crate::figures::log::is_apart_from_data;
use crate::judgement::headline::percent;
use crate::judgement::ledger::LedgerRow;

/// Terms of one row, unknown if the database or the kernel does not count them.
struct Terms {
    name: String,
    per_s: Option<f64>,
    bytes_per_s: Option<f64>,
    counts_bytes: bool,
    gap: Option<String>,
}

fn events(name: impl Into<String>, per_s: Option<f64>, gap: Option<String>) -> Terms {
    Terms { name: name.into(), per_s, bytes_per_s: None, counts_bytes: false, gap }
}

fn bytes(name: impl Into<String>, per_s: Option<f64>, bytes_per_s: Option<f64>, gap: Option<String>) -> Terms {
    Terms { name: name.into(), per_s, bytes_per_s, counts_bytes: true, gap }
}

/// The rows of a step; empty without updates.
pub(crate) fn rows(run: &Run, step: &StepSummary) -> Vec<LedgerRow> {
    let commits = step.commits_per_s.filter(|rate| *rate > 0.0 && step.ops.update.is_some());
    let Some(commits) = commits else { return Vec::new() };
    let (log, name) = (&step.log, run.words().log);
    let ratio = |part: Option<f64>, whole: Option<f64>| part.zip(whole.filter(|rate| *rate > 0.0)).map(|(a, b)| a / b);
    let images = log.image_share.map(|share| format!("{} of the records", percent(share)));
    let each = ratio(step.log_bytes_per_s, log.writes_per_s)
        .map(|bytes| format!("{} B of {name} per write", format_rounded(bytes)));
    let synced = log.commits_per_sync.zip(log.bytes_per_sync);
    let synced =
        synced.map(|(commits, bytes)| format!("{commits:.2} commits and {} B per sync", format_rounded(bytes)));
    // Without a count of syncs, flushes at a device that contains only the log replace it.
    let (synced, flushed) = if log.syncs_per_s.is_some() { (synced, None) } else { (None, synced) };
    let processes = ratio(log.process_write_bytes_per_s, log.write_bytes_per_s);
    let processes = processes.map(|times| format!("{times:.2} times the {name} written"));
    let shared =
        (is_apart_from_data(&run.environment) == Some(false)).then(|| "writes of data are among them".to_owned());
    let of_device = |part: Option<f64>| {
        ratio(part, log.device_write_bytes_per_s).map(|share| format!("{} of the bytes at its device", percent(share)))
    };
    let mut terms = vec![
        events("commits", Some(commits), None),
        events(format!("{name} records"), log.records_per_s, None),
        events("  images of whole blocks", log.images_per_s, images),
        bytes(name.clone(), step.log_bytes_per_s, step.log_bytes_per_s, None),
        bytes(format!("{name} writes"), log.writes_per_s, log.write_bytes_per_s, each),
        bytes("  of the processes", None, log.process_write_bytes_per_s, processes),
        events(format!("{name} syncs"), log.syncs_per_s, synced),
        events("flushes at its device", log.device_flushes_per_s, flushed),
        bytes("writes at its device", log.device_writes_per_s, log.device_write_bytes_per_s, shared),
    ];
    if log.journal_bytes_per_s.is_some() {
        let (journal, other) = (log.journal_bytes_per_s, log.other_bytes_per_s);
        terms.push(bytes("  journal of its file system", None, journal, of_device(journal)));
        terms.push(bytes("  other than log and journal", None, other, of_device(other)));
    }
    let row = |terms: Terms| LedgerRow {
        unit: if terms.name == name { "bytes" } else { "1" },
        per_s: terms.per_s,
        counts_bytes: terms.counts_bytes,
        bytes_per_s: terms.bytes_per_s,
        ratio: terms.per_s.map(|per_s| per_s / commits),
        expected: None,
        gap: terms.gap,
        name: terms.name.into(),
    };
    terms.into_iter().map(row).collect()
}
