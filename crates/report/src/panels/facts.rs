//! Facts about the measurement, without which no two results can be compared (docs/findings.md, F23).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use mindful_analyze::figures::work::Work;
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::contract::description::Description;
use mindful_core::contract::fact::{Fact, chosen_key, chosen_setting};
use mindful_core::contract::slice::Placement;
use mindful_core::plan::settings::Origin;
use mindful_core::plan::units::format_bytes;
use mindful_core::record::run::{Run, StepHead};
use mindful_core::result::{BySession, StepSummary};
use mindful_core::workload::{Access, Compatibility, LoopSite, Redo, Workload};

use crate::escape;
use crate::figure::{ends, format_counted, format_whole, mib, number, percent, range};
use crate::panels::Panel;

const MOST_COUNTS: usize = 12;
/// Different values of the steps of a run that are named.
const MOST_VALUES: usize = 4;

pub(crate) fn measured(run: &Run, analysis: &Analysis) -> Panel {
    Panel::of_facts("what was measured", measured_facts(run, analysis))
}

pub(crate) fn measured_facts(run: &Run, analysis: &Analysis) -> Vec<(String, String)> {
    let unknown = || "not known".to_owned();
    let steps = || run.steps.iter().zip(&analysis.steps);
    let of_steps = |words: &dyn Fn(&StepHead, &StepAnalysis) -> Option<String>| {
        distinct(steps().map(|(record, step)| words(&record.head, step).unwrap_or_else(unknown)))
    };
    let (words, description) = (run.words(), run.description.as_ref());
    let version = description.map_or_else(unknown, |d| escape(&d.engine_version));
    let block_bytes = mindful_analyze::figures::blocks::block_bytes(run);
    let imported = run.head.imported.as_ref().filter(|_| steps().next().is_some());
    let (log, hit) = (format!("{} and commit", escape(&words.log)), escape(&words.hits));
    let facts = [
        ("engine", Some(format!("{} {version} at {}", escape(&run.head.engine), escape(&run.head.target)))),
        ("block size", Some(block_bytes.map_or_else(unknown, |bytes| format!("{bytes} B")))),
        ("database cache", Some(description.and_then(cache).unwrap_or_else(unknown))),
        ("figures", imported.map(|i| format!("of another tool: {} {}", escape(&i.what), some_of(&i.files)))),
        ("active set", Some(of_steps(&|_, step| active_set(&step.summary, block_bytes)))),
        ("sessions", Some(sessions(run, analysis))),
        ("work unit", Some(of_steps(&|head, _| head.workload.as_ref().map(work_unit)))),
        ("mix", Some(mix(run, analysis))),
        (&log, Some(of_steps(&|head, step| head.workload.as_ref().map(|workload| redo(step, workload))))),
        (&hit, Some(hits(analysis))),
        ("measured window", Some(window(run, analysis))),
        ("CPU", Some(cpus(run, analysis))),
        ("storage", Some(storage(run, analysis))),
        ("notice", analysis.summary.notice.as_deref().map(escape)),
    ];
    let stated = |text: String| if text.is_empty() { unknown() } else { text };
    facts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), stated(text?)))).collect()
}

pub(crate) fn in_brief(run: &Run, analysis: &Analysis) -> Panel {
    let mut page = Panel::default();
    let version = run.description.as_ref().map(|description| format!(" {}", escape(&description.engine_version)));
    let mut parts = vec![format!("{}{}", escape(&run.head.engine), version.unwrap_or_default())];
    let step = analysis.summary.steps.first();
    if let Some(step) = step.filter(|_| analysis.steps.len() == 1) {
        parts.push(crate::figure::sessions(step.sessions));
    }
    let set =
        step.and_then(|step| step.scale.zip(step.schemas)).zip(mindful_analyze::figures::blocks::block_bytes(run));
    if let Some(((scale, schemas), bytes)) = set {
        let data = scale.saturating_mul(schemas.into()).saturating_mul(bytes);
        let over = run.description.as_ref().and_then(cache).map(|cache| format!(" over a cache of {cache}"));
        parts.push(format!("{} of data{}", format_bytes(data), over.unwrap_or_default()));
    }
    if let Some(seconds) = step.and_then(|step| step.duration_s) {
        parts.push(format!("measured for {seconds:.2} s"));
    }
    page.blank();
    page.wrapped(2, &parts.join(", "));
    page
}

fn cache(description: &Description) -> Option<String> {
    let whose = if description.cache_each_session { " for each session" } else { "" };
    description.cache_bytes.map(|bytes| format!("{}{whose}", format_bytes(bytes)))
}

fn active_set(step: &StepSummary, block_bytes: Option<u64>) -> Option<String> {
    let (scale, schemas) = step.scale.zip(step.schemas)?;
    let blocks = scale.saturating_mul(schemas.into());
    let bytes =
        block_bytes.map_or_else(String::new, |bytes| format!("{}: ", format_bytes(blocks.saturating_mul(bytes))));
    Some(format!("{bytes}{} of {}", format_counted(schemas, "schema"), format_counted(scale, "block")))
}

fn some_of(files: &[String]) -> String {
    let mut text = files.iter().take(3).map(|file| escape(file)).collect::<Vec<_>>().join(", ");
    if files.len() > 3 {
        let _ = write!(text, " and {} more", files.len() - 3);
    }
    text
}

/// The numbers of sessions of the steps, each number once; of very many only the least and the most.
fn counts(analysis: &Analysis) -> String {
    let counts = analysis.summary.steps.iter().map(|step| step.sessions);
    let known: BTreeSet<u32> = counts.clone().flatten().collect();
    let mut reported: Vec<String> = match (known.first(), known.last()) {
        (Some(least), Some(most)) if known.len() > MOST_COUNTS => vec![format!("{least} to {most}")],
        _ => known.iter().map(u32::to_string).collect(),
    };
    if counts.clone().any(|count| count.is_none()) {
        reported.push("not known".to_owned());
    }
    reported.join(", ")
}

/// The different values of the steps, in their order.
fn distinct(values: impl Iterator<Item = String>) -> String {
    let mut all: Vec<String> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    if all.len() <= MOST_VALUES { all.join("; ") } else { format!("{} different ones by step", all.len()) }
}

fn sessions(run: &Run, analysis: &Analysis) -> String {
    let mut text = counts(analysis);
    let workloads = || run.steps.iter().filter_map(|step| step.head.workload.as_ref());
    let place = |workload: &Workload| match workload.loop_site {
        LoopSite::Server => "work loop in the database".to_owned(),
        LoopSite::Client => "work loop in the client".to_owned(),
    };
    if workloads().next().is_some() {
        let _ = write!(text, ", {}", distinct(workloads().map(place)));
    }
    let rates = || workloads().filter_map(|workload| workload.rate);
    if let Some(rate) = range(rates().map(|rate| Some(rate.per_s)), number) {
        let beat = if rates().any(|rate| rate.even) { "evenly" } else { "at random (Poisson)" };
        let _ = write!(text, "; open loop, {rate} operations/s due {beat}, latencies are response times");
    }
    text.push_str(&run.steps.first().map_or_else(String::new, |step| hosts(&step.head.placements)));
    let [step] = analysis.steps.as_slice() else { return text };
    let fairness = step.work.as_ref().filter(|work| work.sessions > 1).and_then(Work::fairness);
    if let Some((least, median, most)) = fairness.filter(|(_, median, _)| *median > 0.0) {
        let of_median = |ops: f64| percent(Some(ops / median));
        let _ = write!(text, "; the slowest did {} of the median, the fastest {}", of_median(least), of_median(most));
    }
    text
}

/// Sessions by host, if there are several; all sessions of a schema are on one host.
fn hosts(placements: &[Placement]) -> String {
    let mut sessions: std::collections::BTreeMap<u32, u32> = std::collections::BTreeMap::new();
    for placement in placements {
        *sessions.entry(placement.endpoint).or_default() += 1;
    }
    let reported = sessions.iter().map(|(host, count)| format!("host {}: {count}", host + 1)).collect::<Vec<_>>();
    if reported.len() < 2 { String::new() } else { format!("; {}", reported.join(", ")) }
}

fn work_unit(workload: &Workload) -> String {
    let unit = workload.work_unit;
    let old = |kit: &str, visited| {
        format!("{unit}, in the arithmetic of {kit}: {} per operation", format_counted(visited, "block"))
    };
    match workload.compatibility {
        Compatibility::Mindful => format!("{} per operation", format_counted(unit, "block")),
        Compatibility::Slob => old("SLOB 2.5.4", unit.saturating_sub(1)),
        Compatibility::Pgio => old("pgio 1.0", unit.saturating_add(1)),
    }
}

fn hits(analysis: &Analysis) -> String {
    let hits = analysis.summary.steps.iter().map(|step| step.hit_ratio);
    let Some(hits) = range(hits, |hits| percent(Some(hits))) else { return "not known".to_owned() };
    let logical = format!("{hits} of logical reads");
    match analysis.steps.as_slice() {
        [StepAnalysis { residence: Some(residence), .. }] => {
            let (measured, predicted) = (percent(Some(residence.measured)), percent(Some(residence.predicted)));
            format!("{logical}, {measured} of the blocks our operations visited; expected from cache size {predicted}")
        }
        _ => logical,
    }
}

fn mix(run: &Run, analysis: &Analysis) -> String {
    let steps = || {
        let steps = run.steps.iter().zip(&analysis.summary.steps);
        steps.filter_map(|(record, step)| Some((record.head.workload.as_ref()?, step.update_pct_realised)))
    };
    let realised = |of: &Workload| {
        let alike = steps().filter(|(workload, _)| workload.update_pct == of.update_pct);
        range(alike.map(|(_, realised)| realised), number)
            .map_or_else(|| "not known".to_owned(), |pct| format!("{pct} %"))
    };
    let mix = distinct(steps().map(|(workload, _)| mix_of(workload, &realised(workload))));
    if mix.is_empty() { "not known".to_owned() } else { mix }
}

fn mix_of(workload: &Workload, realised: &str) -> String {
    let mut text = if workload.update_pct.is_none() {
        "reads alone".to_owned()
    } else {
        format!("updates: {realised} realised, {} % asked", number(workload.update_pct.percent()))
    };
    match workload.access {
        Access::Index => {}
        Access::Bitmap => text.push_str(", by bitmap: found in the index first, then read in the table's order"),
        Access::Scan => return text + ", each of a whole schema from its first block to its last",
    }
    if !workload.scan_pct.is_none() {
        let _ = write!(text, ", {} % of reads are full scans", number(workload.scan_pct.percent()));
    }
    text
}

fn redo(step: &StepAnalysis, workload: &Workload) -> String {
    if workload.update_pct.is_none() {
        return "none: reads alone".to_owned();
    }
    let Some(commit) = &step.commit else { return "none: files have no log".to_owned() };
    let redo = match workload.redo {
        Redo::Light => "light",
        Redo::Heavy => "heavy",
    };
    format!("{redo} (--redo {redo}); commits {}", escape(commit))
}

fn window(run: &Run, analysis: &Analysis) -> String {
    if let ([record], [step]) = (run.steps.as_slice(), analysis.summary.steps.as_slice()) {
        return window_of(step, &record.head);
    }
    let seconds = range(analysis.summary.steps.iter().map(|step| step.duration_s), |s| format!("{s:.2}"));
    let none = if run.steps.is_empty() { "not known" } else { "none" };
    seconds.map_or_else(|| none.to_owned(), |seconds| format!("{seconds} s in each step"))
}

fn window_of(step: &StepSummary, head: &StepHead) -> String {
    let measured = step.duration_s.map_or_else(|| "none".to_owned(), |s| format!("{s:.2} s"));
    let asked = match (head.duration_s, head.ops) {
        (Some(s), _) => format!("{} s asked", number(s)),
        (None, Some(_)) => "a fixed amount of work".to_owned(),
        (None, None) if head.workload.is_none() => "as it was reported".to_owned(),
        (None, None) => "chosen by the steady-state test".to_owned(),
    };
    let skew = step.start_skew_ms.map_or_else(String::new, |ms| format!(", start skew {} ms", number(ms)));
    format!("{measured} ({asked}){skew}{}", step.by_session.as_ref().map_or_else(String::new, offsets))
}

/// When the first and the last session started and stopped, after the instant chosen for all.
fn offsets(sessions: &BySession) -> String {
    let ends = |times: &[f64]| {
        let [first, last] = ends(times.iter().copied()).unwrap_or_default();
        format!("{first:.1} to {last:.1} ms")
    };
    format!(
        "; sessions started {} after the chosen instant, stopped {}",
        ends(&sessions.start_ms),
        ends(&sessions.stop_ms)
    )
}

fn cpus(run: &Run, analysis: &Analysis) -> String {
    let host = analysis.steps.iter().find_map(|step| step.counters.host_cpus()).map(|cpus| format!("{cpus:.0} CPUs"));
    let model = Fact::CpuModel.find(&run.environment).map(|model| escape(model));
    let used = range(analysis.summary.steps.iter().map(|step| step.cpu.db_cores), number);
    let used = used.map(|cores| format!("server used {cores} cores"));
    let parts: Vec<_> = [host, model, used].into_iter().flatten().collect();
    if parts.is_empty() { "not known".to_owned() } else { parts.join(", ") }
}

fn storage(run: &Run, analysis: &Analysis) -> String {
    let fact = |fact: Fact| fact.find(&run.environment).map(|value| escape(value));
    let seen = analysis.summary.steps.iter().any(|step| step.device_reads_per_s.is_some());
    let seen = match fact(Fact::StorageDeviceNotSeen) {
        _ if seen => "seen at the device".to_owned(),
        Some(why) => format!("device not seen ({why})"),
        None => "device not seen".to_owned(),
    };
    let parts: Vec<_> =
        [fact(Fact::StorageDevice), fact(Fact::StorageFilesystem), Some(seen)].into_iter().flatten().collect();
    parts.join(", ")
}

/// The dataset, the proof of its layout, and how statements went about it.
pub(crate) fn proof(run: &Run) -> Panel {
    let mut facts: Vec<(String, String)> = Vec::new();
    if let Some(data) = &run.dataset {
        let index = data.index_bytes.map_or_else(String::new, |bytes| format!(", indexes {}", format_bytes(bytes)));
        let load = run.load_s.map_or_else(
            || "was there already".to_owned(),
            |s| match data.bytes as f64 / s {
                // Faster than anything that stores: nothing was stored.
                rate if rate > 1e12 => "loaded at once".to_owned(),
                rate => format!("loaded in {} s, {} MiB/s", number(s), mib(Some(rate))),
            },
        );
        facts.push((
            "dataset".to_owned(),
            format!("{} in {}{index}; {load}", format_bytes(data.bytes), format_counted(data.schemas, "schema")),
        ));
    }
    if let Some(proof) = &run.proof {
        let worst = proof.schemas.iter().map(|s| s.rank_correlation.abs()).fold(0.0, f64::max);
        let rows: u64 = proof.schemas.iter().fold(0, |all, s| all.saturating_add(s.rows));
        let blocks: u64 = proof.schemas.iter().fold(0, |all, s| all.saturating_add(s.distinct_blocks));
        let when = match jiff::Timestamp::from_microsecond(proof.proven_at_us) {
            Ok(at) if run.load_s.is_none() => format!("; proven at load, {at:.0}"),
            _ => String::new(),
        };
        let looked = match proof.schemas.iter().fold(0_u64, |all, s| all.saturating_add(s.sample.unwrap_or(s.rows))) {
            drawn if proof.is_sample() => {
                format!("{} of {} blocks, drawn at random, hold their one row", format_whole(drawn), format_whole(rows))
            }
            _ => format!("{} rows in {} distinct blocks", format_whole(rows), format_whole(blocks)),
        };
        let what = format!("{looked}; rank correlation of key and block at most {worst:.4}{when}");
        facts.push(("layout".to_owned(), what));
    }
    if let Some(stored) = run.description.as_ref().and_then(|description| description.stored_blocks.as_ref()) {
        facts.push(("stored blocks".to_owned(), escape(stored)));
    }
    for shape in &run.shapes {
        facts.push((format!("{} plan", escape(&shape.kind)), escape(&shape.shape)));
    }
    Panel::of_facts("dataset and plans", facts)
}

/// Settings that differ from their default, and the target's own settings.
pub(crate) fn settings(run: &Run) -> Panel {
    let given = run.head.settings.iter().filter(|(_, setting)| setting.origin != Origin::Default);
    let given: Vec<_> = given.map(|(name, setting)| format!("{}={}", escape(name), escape(&setting.value))).collect();
    let facts = run.description.as_ref().map(|description| &description.facts);
    let chosen = |name: &str| facts.is_some_and(|facts| facts.contains_key(&chosen_key(name)));
    let star = |name: &str| if chosen(name) { "*" } else { "" };
    let shown = facts.into_iter().flatten().filter(|(name, _)| chosen_setting(name).is_none());
    let own: Vec<_> = shown.map(|(name, value)| format!("{}={}{}", escape(name), escape(value), star(name))).collect();
    let starred = own.iter().any(|setting| setting.ends_with('*'));
    let pairs = [("given", given), ("target", own)].into_iter().filter(|(_, settings)| !settings.is_empty());
    let pairs: Vec<_> = pairs.map(|(name, settings)| (name.to_owned(), settings.join(" "))).collect();
    let mut page = Panel::of_facts("settings", pairs);
    if starred {
        page.add_line("  * chosen by mindful; the reasons are in run.jsonl");
    }
    page
}
