//! The ledger of the log: from commits to the device that they wait for. Ratios are by commits.

use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::Run;
use mindful_core::result::StepSummary;

use crate::figures::log::is_apart_from_data;
use crate::judgement::headline::percent;
use crate::judgement::ledger::LedgerRow;

/// The rows of a step, unknown if the database or the kernel does not count them; empty without updates.
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
    let events = |name: &str, per_s: Option<f64>, gap| LedgerRow {
        counts_bytes: false,
        ratio: per_s.map(|per_s| per_s / commits),
        gap,
        ..LedgerRow::new(name.to_owned(), per_s)
    };
    let bytes =
        |name: &str, per_s, bytes_per_s, gap| LedgerRow { counts_bytes: true, bytes_per_s, ..events(name, per_s, gap) };
    let mut rows = vec![
        events("commits", Some(commits), None),
        events(&format!("{name} records"), log.records_per_s, None),
        events("  images of whole blocks", log.images_per_s, images),
        LedgerRow { unit: "bytes", ..bytes(&name, step.log_bytes_per_s, step.log_bytes_per_s, None) },
        bytes(&format!("{name} writes"), log.writes_per_s, log.write_bytes_per_s, each),
        bytes("  of the processes", None, log.process_write_bytes_per_s, processes),
        events(&format!("{name} syncs"), log.syncs_per_s, synced),
        events("flushes at its device", log.device_flushes_per_s, flushed),
        bytes("writes at its device", log.device_writes_per_s, log.device_write_bytes_per_s, shared),
    ];
    if log.journal_bytes_per_s.is_some() {
        let (journal, other) = (log.journal_bytes_per_s, log.other_bytes_per_s);
        rows.push(bytes("  journal of its file system", None, journal, of_device(journal)));
        rows.push(bytes("  other than log and journal", None, other, of_device(other)));
    }
    rows
}
