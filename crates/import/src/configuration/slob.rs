//! `slob.conf` of SLOB 2.5: the effect of each parameter, and its plan key.

use mindful_core::plan::settings::nearest;
use mindful_core::plan::units::{format_counted, format_whole, parse_bytes};
use mindful_core::{Error, Result};

use crate::configuration::plan_file::PlanFile;
use crate::configuration::shell::Script;

/// The length of a block of both kits.
const BLOCK: u64 = 8192;
/// Parameters that pgio does not have.
pub(crate) const OWN_KEYS: &str = "SCAN_PCT REDO_STRESS THREADS_PER_SCHEMA LOAD_PARALLEL_DEGREE DATABASE_STATISTICS_TYPE \
                                   WORK_LOOP DO_HOTSPOT HOT_SCHEMA_FREQUENCY";

/// Parameters that lead nowhere in mindful, and why.
const DROPPED: [(&str, &str); 10] = [
    ("DATABASE_STATISTICS_TYPE", "mindful reads the database's counters itself, no AWR or statspack report is made"),
    ("ADMIN_SQLNET_SERVICE", "the target URL names the server"),
    ("DBA_PRIV_USER", "the target URL names the user; no DBA rights are needed"),
    ("SYSDBA_PASSWD", "its value is not repeated here; give secrets by URL, PGPASSWORD or a password file"),
    ("NO_OS_PERF_DATA", "host counters are always read where the server is local"),
    ("SLOB_DEBUG", "everything that happens is in the run folder"),
    ("SLOB_TEMPDIR", "nothing temporary is written"),
    ("OS_TEMP", "nothing temporary is written"),
    ("UNIQUE_INDEX", "the engine creates its own index; its shape is checked and shown"),
    (
        "EXTERNAL_SCRIPT",
        "it was started in the background, without waiting for its end; name it as hook_before, hook_after or hook_end",
    ),
];

const CARRIED: &str = "SQLNET_SERVICE_BASE SQLNET_SERVICE_MAX UPDATE_PCT SCAN_PCT RUN_TIME WORK_LOOP SCALE SCAN_TABLE_SZ \
                       WORK_UNIT REDO_STRESS LOAD_PARALLEL_DEGREE THREADS_PER_SCHEMA DO_HOTSPOT HOTSPOT_MB \
                       HOTSPOT_OFFSET_MB HOTSPOT_FREQUENCY HOT_SCHEMA_FREQUENCY THINK_TM_FREQUENCY THINK_TM_MIN \
                       THINK_TM_MAX OBFUSCATE_COLUMNS BLOCK_SZ";

/// Whole numbers that keep their meaning: the old name, the new one, and the difference in effect.
const NUMBERS: [(&str, &str, &str); 3] = [
    (
        "LOAD_PARALLEL_DEGREE",
        "load_streams",
        "loaded in batches with a wait after each; mindful loads as many in parallel from a queue",
    ),
    ("SCAN_PCT", "scan_pct", "share of reads; came out below it near 50; now exact"),
    ("THREADS_PER_SCHEMA", "threads", "sessions in each schema; the number of schemas was an argument: pass --schemas"),
];

pub(crate) fn plan(script: &Script) -> Result<PlanFile> {
    let mut plan = PlanFile::default();
    for (old, new, change) in NUMBERS {
        carry(script, &mut plan, (old, new), |_| change.to_owned())?;
    }
    dataset(script, &mut plan)?;
    mix(script, &mut plan)?;
    length(script, &mut plan)?;
    hot(script, &mut plan)?;
    think(script, &mut plan)?;
    services(script, &mut plan)?;
    for (key, why) in DROPPED {
        if script.get(key).is_some() {
            plan.leave(format!("{key}: {why}"));
        }
    }
    let known: Vec<&str> = CARRIED.split(' ').chain(DROPPED.iter().map(|(key, _)| *key)).collect();
    unknown(script, &known, &mut plan);
    Ok(plan)
}

/// Lists assignments that are not parameters of the kit, with the nearest parameter.
pub(crate) fn unknown(script: &Script, known: &[&str], plan: &mut PlanFile) {
    for (line, key, _) in &script.assignments {
        if !known.contains(&key.as_str()) {
            let hint =
                nearest(key, known.iter().copied()).map_or_else(String::new, |near| format!(", did you mean {near}?"));
            plan.leave(format!("{key} (line {line}): unknown parameter{hint}"));
        }
    }
}

pub(crate) fn number(script: &Script, key: &str) -> Result<Option<u64>> {
    script
        .get(key)
        .map(|text| {
            text.parse().map_err(|_| Error::plan(format!("{key}={text} is not a whole number"), "write digits alone"))
        })
        .transpose()
}

/// Blocks of 8 KiB from a plain number or a size with K, M, G or T, which always were powers of two.
pub(crate) fn blocks(script: &Script, key: &str) -> Result<Option<u64>> {
    let Some(text) = script.get(key) else { return Ok(None) };
    let digits = text.strip_suffix(|c: char| c.is_ascii_alphabetic());
    // The kits know no fractions.
    let count = digits.unwrap_or(text).parse::<u64>().ok();
    let bytes = count.and_then(|blocks| match digits {
        Some(_) => parse_bytes(&format!("{text}iB")).ok(),
        None => blocks.checked_mul(BLOCK),
    });
    let next = "write blocks, or a number with M, G or T";
    let bytes = bytes.ok_or_else(|| Error::plan(format!("{key}={text} is not a size"), next))?;
    Ok(Some(bytes / BLOCK))
}

/// Carries a whole number over; `change` is the difference in effect.
pub(crate) fn carry(
    script: &Script,
    plan: &mut PlanFile,
    (old, new): (&str, &str),
    change: impl Fn(u64) -> String,
) -> Result<()> {
    if let Some(number) = number(script, old)? {
        plan.set(new, number as i64, format!("{old}={number}: {}", change(number)));
    }
    Ok(())
}

fn dataset(script: &Script, plan: &mut PlanFile) -> Result<()> {
    let given = |key: &str| script.get(key).unwrap_or_default();
    if let Some(scale) = blocks(script, "SCALE")? {
        let text = given("SCALE");
        let blocks = format_counted(scale, "block");
        let used = if text.ends_with(|c: char| c.is_ascii_alphabetic()) { scale / 2 } else { scale };
        let comment = format!(
            "SCALE={text}: setup loaded {blocks} of 8 KiB, the run took a size by 16 KiB blocks and used {} \
             unless BLOCK_SZ said otherwise; mindful loads and uses {blocks} of the target",
            format_whole(used)
        );
        plan.set("scale", scale as i64, comment);
    }
    if let Some(scan) = blocks(script, "SCAN_TABLE_SZ")? {
        let text = given("SCAN_TABLE_SZ");
        let comment = format!(
            "SCAN_TABLE_SZ={text}: {} of an unindexed table for each schema, 0 refused; 0 is allowed now",
            format_counted(scan, "block")
        );
        plan.set("scan_table", scan as i64, comment);
    }
    let filler = if given("OBFUSCATE_COLUMNS").eq_ignore_ascii_case("TRUE") {
        "OBFUSCATE_COLUMNS=TRUE: 36 symbols, blocks mostly empty; mindful's filler is incompressible"
    } else {
        "OBFUSCATE_COLUMNS was not TRUE: each column was one repeated letter; write repeated for the same"
    };
    plan.set("content", "mixed", filler);
    if script.get("BLOCK_SZ").is_some() {
        plan.leave("BLOCK_SZ: the target reports its block size");
    }
    Ok(())
}

fn mix(script: &Script, plan: &mut PlanFile) -> Result<()> {
    carry(script, plan, ("UPDATE_PCT", "update_pct"), |pct| {
        let really = match pct {
            40 => "came out as 39.97 %; ",
            45 => "came out as 44.6 %; ",
            48 => "came out as 46.8 %; ",
            50 => "came out as 48.0 %; ",
            _ => "",
        };
        format!("{really}updates came in a burst at the head of each 100 operations; now evenly spread and exact")
    })?;
    carry(script, plan, ("WORK_UNIT", "work_unit"), |unit| {
        let visited = format_counted(unit.saturating_sub(1), "block");
        format!("an operation visited {visited}; mindful visits {unit} (like = \"slob\" for the old count)")
    })?;
    if let Some(redo) = script.get("REDO_STRESS") {
        let new = if redo.eq_ignore_ascii_case("HEAVY") { "heavy" } else { "light" };
        let change = "all columns if HEAVY, else two; committed after each update, as before";
        plan.set("redo", new, format!("REDO_STRESS={redo}: {change}"));
    }
    Ok(())
}

fn length(script: &Script, plan: &mut PlanFile) -> Result<()> {
    let run_time = number(script, "RUN_TIME")?;
    let work_loop = number(script, "WORK_LOOP")?.filter(|ops| *ops > 0);
    if let Some(ops) = work_loop {
        let change = "operations for each session; the run time still applied and could end it first without a message";
        plan.set("ops", ops as i64, format!("WORK_LOOP={ops}: {change}"));
    }
    if let Some(seconds) = run_time {
        let (key, change) = match work_loop {
            Some(_) => ("guard", "as a guard; when it fires the run is marked incomplete"),
            None => ("duration", "averages included start and end; now exactly this long, after a warm-up"),
        };
        plan.set(key, format!("{seconds}s"), format!("RUN_TIME={seconds}: {change}"));
    }
    Ok(())
}

/// Services of a cluster: `rac1`, `rac2` … as one target, on which sessions are placed in turn.
fn services(script: &Script, plan: &mut PlanFile) -> Result<()> {
    let most = number(script, "SQLNET_SERVICE_MAX")?;
    let Some(base) = script.get("SQLNET_SERVICE_BASE").filter(|base| !base.is_empty()) else {
        if most.is_some() {
            plan.leave("SQLNET_SERVICE_MAX: without SQLNET_SERVICE_BASE it names no service");
        }
        return Ok(());
    };
    let names = most.filter(|most| *most > 0).map_or_else(|| base.to_owned(), |most| format!("{base}1..{most}"));
    let limit = most.map_or_else(String::new, |most| format!(", SQLNET_SERVICE_MAX={most}"));
    plan.set(
        "target",
        format!("oracle://mindful_bench@{names}"),
        format!(
            "SQLNET_SERVICE_BASE={base}{limit}: sessions drew a service at random; mindful takes them in turn, repeatably. \
             These are aliases of tnsnames.ora (--tns-admin), the account is that of `mindful engines oracle --grants`; leave \
             the line out for another database",
        ),
    );
    Ok(())
}

/// One in `frequency` as percent, to two places.
fn one_in(frequency: u64) -> f64 {
    (10_000.0 / frequency as f64).round() / 100.0
}

fn hot(script: &Script, plan: &mut PlanFile) -> Result<()> {
    if script.get("DO_HOTSPOT").is_some_and(|on| on.eq_ignore_ascii_case("TRUE")) {
        let size = number(script, "HOTSPOT_MB")?.unwrap_or(8);
        let offset = number(script, "HOTSPOT_OFFSET_MB")?.unwrap_or(16);
        let frequency = number(script, "HOTSPOT_FREQUENCY")?.unwrap_or(3);
        plan.set("hot_spot_size", format!("{size}MiB"), format!("DO_HOTSPOT=TRUE, HOTSPOT_MB={size}: counted in blocks of 8 KiB whatever the block size; the range read began a work unit below it"));
        plan.set("hot_spot_offset", format!("{offset}MiB"), format!("HOTSPOT_OFFSET_MB={offset}: the same in each schema, and checked by blocks of 8 KiB against a scale of 16 KiB ones; mindful refuses a hot spot outside the scale by the target's blocks"));
        if frequency == 0 {
            plan.set("hot_spot_share", 0, "HOTSPOT_FREQUENCY=0: only the first operation was hot");
        } else {
            plan.set("hot_spot_share", one_in(frequency), format!("HOTSPOT_FREQUENCY={frequency}: one operation in {frequency}, by a counter shared with scans and the hot schema; now an independent draw"));
        }
    }
    if let Some(frequency) = number(script, "HOT_SCHEMA_FREQUENCY")?.filter(|n| *n > 0) {
        plan.set("hot_schema", one_in(frequency), format!("HOT_SCHEMA_FREQUENCY={frequency}: one operation in {frequency} went to schema 1, by the counter that also chose scans; now an independent draw"));
    }
    Ok(())
}

fn think(script: &Script, plan: &mut PlanFile) -> Result<()> {
    let Some(frequency) = number(script, "THINK_TM_FREQUENCY")?.filter(|n| *n > 0) else { return Ok(()) };
    let seconds =
        |key: &str, default: f64| match script.get(key) {
            None => Ok(default),
            Some(text) => text.parse::<f64>().ok().filter(|s| (0.0..1e6).contains(s)).ok_or_else(|| {
                Error::plan(format!("{key}={text} is not a time in seconds"), "write seconds, such as .5")
            }),
        };
    let (min, max) = (seconds("THINK_TM_MIN", 0.1)?, seconds("THINK_TM_MAX", 0.5)?);
    let ms = |s: f64| (s * 1_000.0).round() as u64;
    plan.set(
        "think_time",
        format!("{}%:{}ms..{}ms", one_in(frequency), ms(min), ms(max)),
        format!(
            "THINK_TM_FREQUENCY={frequency}, THINK_TM_MIN={}, THINK_TM_MAX={}: slept when the last key was divisible by \
             the first, so updates and pauses were tied; now an independent draw, as long as before",
            script.get("THINK_TM_MIN").unwrap_or(".1"),
            script.get("THINK_TM_MAX").unwrap_or(".5"),
        ),
    );
    Ok(())
}
