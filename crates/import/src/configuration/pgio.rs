//! `pgio.conf` of pgio 1.0: the effect of each parameter, and its plan key.

use mindful_core::Result;
use mindful_core::plan::units::format_counted;

use crate::configuration::connect_string;
use crate::configuration::plan_file::PlanFile;
use crate::configuration::shell::Script;
use crate::configuration::slob::{blocks, carry, number, unknown};

/// Parameters that SLOB does not have.
pub(crate) const OWN_KEYS: &str = "NUM_SCHEMAS NUM_THREADS UPDATE_WORK_UNIT DBNAME CONNECT_STRING CREATE_BASE_TABLE";
const SHARED_KEYS: &str = "UPDATE_PCT RUN_TIME WORK_UNIT SCALE PGIO_DEBUG";

/// Whole numbers that keep their meaning: the old name, the new one, and the difference in effect.
const NUMBERS: [(&str, &str, &str); 4] = [
    ("NUM_SCHEMAS", "schemas", "tables, all in the same physical order; now each in an order of its own"),
    ("NUM_THREADS", "threads", "sessions for each table in the run"),
    ("NUM_THREADS", "load_streams", "also the load's concurrency; two keys now"),
    (
        "UPDATE_PCT",
        "update_pct",
        "exact, but in bursts and in one transaction for the whole run; now evenly spread and committed one by one",
    ),
];

pub(crate) fn plan(script: &Script) -> Result<PlanFile> {
    let mut plan = PlanFile::default();
    target(script, &mut plan);
    if let Some(scale) = blocks(script, "SCALE")? {
        let text = script.get("SCALE").unwrap_or_default();
        let blocks = format_counted(scale, "block");
        plan.set("scale", scale as i64, format!("SCALE={text}: {blocks} of 8 KiB in each table"));
    }
    for (old, new, change) in NUMBERS {
        carry(script, &mut plan, (old, new), |_| change.to_owned())?;
    }
    for keys in [("WORK_UNIT", "work_unit"), ("UPDATE_WORK_UNIT", "update_work_unit")] {
        carry(script, &mut plan, keys, |unit| {
            let visited = format_counted(unit.saturating_add(1), "block");
            format!(
                "an operation visited {visited} and counted {unit}; mindful visits {unit} (like = \"pgio\" for the old count)"
            )
        })?;
    }
    if let Some(seconds) = number(script, "RUN_TIME")? {
        plan.set("duration", format!("{seconds}s"), format!("RUN_TIME={seconds}: counted from the end of the launch while the counters ran from its begin; now one window for both"));
    }
    if script.get("CREATE_BASE_TABLE").is_some() {
        plan.leave("CREATE_BASE_TABLE: it kept a seed table that all others were copied from; there is no seed table, each table is laid out from the seed");
    }
    let known: Vec<&str> = OWN_KEYS.split(' ').chain(SHARED_KEYS.split(' ')).collect();
    unknown(script, &known, &mut plan);
    Ok(plan)
}

/// Sessions connected by CONNECT_STRING, and counters were read of DBNAME.
fn target(script: &Script, plan: &mut PlanFile) {
    let (connect, database) = (script.get("CONNECT_STRING"), script.get("DBNAME"));
    let Some(given) = connect.or(database) else { return };
    let what = format!(
        "DBNAME={}, CONNECT_STRING={}",
        database.unwrap_or("not given"),
        connect.map_or("not given".to_owned(), shown)
    );
    match connect_string::target(given, database) {
        Some(url) => {
            let comment = format!(
                "{what}: sessions connected by CONNECT_STRING, and counters were read of DBNAME. mindful uses one database for \
                 both. A password comes from PGPASSWORD or a password file, what is missing from the PG* variables"
            );
            plan.set("target", url, comment);
        }
        None => plan.leave(format!("{what}: pass the target as a URL, such as postgres://user@host/database")),
    }
}

/// A connect string without its password, and without anything that may be one.
fn shown(connect: &str) -> String {
    const HIDDEN: &str = "...";
    let Some(url) = connect_string::target(connect, None) else { return HIDDEN.to_owned() };
    if connect_string::is_url(connect) {
        return url;
    }
    let pair = |(key, value): (String, String)| match key.as_str() {
        "user" | "host" | "hostaddr" | "port" | "dbname" => format!("{key}={value}"),
        _ => format!("{key}={HIDDEN}"),
    };
    // Words that are not keywords are options and names.
    let word = |word: String| match word.split_once('=') {
        Some((key, _)) => format!("{key}={HIDDEN}"),
        None if word.contains("://") => HIDDEN.to_owned(),
        None => word,
    };
    let words = match connect_string::keywords(connect) {
        Some(pairs) => pairs.into_iter().map(pair).collect::<Vec<_>>(),
        None => connect_string::words(connect).unwrap_or_default().into_iter().map(word).collect(),
    };
    words.join(" ")
}
