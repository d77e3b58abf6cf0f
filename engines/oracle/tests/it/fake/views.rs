//! The views of a made-up database. All figures are made up.

use mindful_core::contract::clock;
use mindful_oracle::driver::Row;

use super::database::{Own, State};
use super::{Binds, numbers};

const BANNER: &str = "Oracle Database 19c Made Up Edition Release 19.0.0.0.0 - Production";

fn row<const N: usize>(columns: [&str; N]) -> Row {
    columns.map(|column| (!column.is_empty()).then(|| column.to_owned())).into()
}

fn pair(name: &str, value: u64) -> Row {
    vec![Some(name.to_owned()), Some(value.to_string())]
}

pub(super) fn plan(sql: &str) -> Vec<String> {
    let head = if sql.contains("UPDATE") { "UPDATE STATEMENT" } else { "SELECT STATEMENT" };
    let lines: &[&str] = match sql {
        _ if sql.contains("FULL(b)") => &["  SORT AGGREGATE ", "    TABLE ACCESS FULL MINDFUL_SCAN_1"],
        _ if sql.contains("UPDATE") => &["  UPDATE  MINDFUL_BLOCKS_1", "    INDEX RANGE SCAN MINDFUL_BLOCKS_1_K"],
        _ => &[
            "  SORT AGGREGATE ",
            "    TABLE ACCESS BY INDEX ROWID MINDFUL_BLOCKS_1",
            "      INDEX RANGE SCAN MINDFUL_BLOCKS_1_K",
        ],
    };
    std::iter::once(head).chain(lines.iter().copied()).map(str::to_owned).collect()
}

pub(super) fn registry(state: &State) -> Vec<Row> {
    let row = |(name, entry): (&String, &super::database::Registered)| {
        let table = state.tables.get(name);
        let standing = match (table, entry.object) {
            (None, _) => "none",
            (Some(_), None) => "begun",
            (Some(table), Some(object)) if table.object == object => "whole",
            _ => "other",
        };
        let bytes = table.map_or_else(String::new, |table| (table.keys.len() * 8_192 + 65_536).to_string());
        let (proof, index) = (entry.proof.as_deref(), table.filter(|table| table.indexed).map(|_| "65536"));
        let (proof, index) = (proof.unwrap_or_default(), index.unwrap_or_default());
        let of_load = entry.of_load.each_ref().map(String::as_str);
        [row([name]), row(of_load), row([proof, standing, &bytes, index])].concat()
    };
    state.registry.iter().map(row).collect()
}

pub(super) fn rows(state: &State, sid: u64, name: &str, sql: &str, binds: &Binds) -> Vec<Row> {
    match name {
        "banner" if state.banner.is_empty() => vec![row([BANNER])],
        "banner" => vec![row([&state.banner])],
        "look" => {
            let name = binds.text("registry");
            let found = state.tables.get(&name);
            found.map(|table| vec![Some(name.clone()), table.comment.clone()]).into_iter().collect()
        }
        "standing" => {
            let begin = binds.text("names").replace(['!', '%'], "");
            state.tables.keys().filter(|name| name.starts_with(&begin)).map(|name| row([name])).collect()
        }
        "room" => {
            let quota = state.quota.map_or_else(|| "-1".to_owned(), |quota| quota.to_string());
            vec![row(["USERS", "8192", "NO", "ONLINE", "0", &quota, "1099511627776", "0", "1"])]
        }
        "parameters" => vec![row(["commit_wait", ""]), row(["cpu_count", "2"]), row(["sga_target", "1073741824"])],
        "sga" => vec![pair("Buffer Cache Size", 1_048_576)],
        "pools" => vec![pair("DEFAULT 8192", 1_048_576)],
        "instance" => vec![row(["made_up", "19.0.0.0.0", "1", "NO"])],
        "database" => vec![row(["NOARCHIVELOG", "NO", "READ WRITE", "YES", "PRIMARY"])],
        "identity" => vec![row(["4711", "4712"])],
        "whoami" => vec![row([&sid.to_string(), "1", "BENCH", ""])],
        "clock" => vec![vec![Some((clock::now_us() + state.ahead_us).to_string())]],
        "prove_schema" => vec![proof(state, sql)],
        "prove_pair" => vec![pair_proof(state, sql)],
        "own_statistics" => of_ours(state, binds, |own| own.statistics.iter().map(|(n, v)| pair(n, *v)).collect()),
        "my_statistics" => state.sessions[&sid].statistics.iter().map(|(name, value)| pair(name, *value)).collect(),
        "own_events" => of_ours(state, binds, events),
        "my_events" => events(&state.sessions[&sid]),
        "own_time" => of_ours(state, binds, times),
        "my_time" => times(&state.sessions[&sid]),
        "instance_statistics" => instance(state),
        "histogram" => histogram(state),
        "host" => host(state.busy_cpus),
        "data_files" => state.files.iter().map(|file| row([file])).collect(),
        "files" => vec![row(["100", "10", "20", "2", "90", "45"])],
        // No disk of ASM: a sum without rows is NULL.
        "disks" => vec![row(["", "", "", "", "", ""])],
        "waits" | "all_waits" => state
            .sessions
            .values()
            .filter(|own| own.module == "mindful")
            .map(|own| pair(own.doing.unwrap_or("SQL*Net message from client"), 1))
            .collect(),
        _ => panic!("no query is called {name}"),
    }
}

/// A host of two CPUs; without busy ones its times do not change.
fn host(busy: f64) -> Vec<Row> {
    let hundredths = |cpus: f64| (cpus * (clock::now_us() % 1_000_000_000_000) as f64 / 1e4) as u64;
    let [busy_time, idle_time] = if busy > 0.0 { [busy, 2.0 - busy].map(hundredths) } else { [100, 900] };
    vec![pair("NUM_CPUS", 2), pair("LOAD", 1), pair("BUSY_TIME", busy_time), pair("IDLE_TIME", idle_time)]
}

/// Rows of our own sessions, each with its number in front.
fn of_ours(state: &State, binds: &Binds, rows: impl Fn(&Own) -> Vec<Row>) -> Vec<Row> {
    let (module, action) = (binds.text("module"), binds.text("action"));
    let ours = state.sessions.iter().filter(|(_, own)| own.module == module && own.action == action);
    let numbered = |(sid, own): (&u64, &Own)| {
        let with = |mut row: Row| {
            row.insert(0, Some(sid.to_string()));
            row
        };
        rows(own).into_iter().map(with).collect::<Vec<_>>()
    };
    ours.flat_map(numbered).collect()
}

fn reads(own: &Own) -> u64 {
    own.statistics.get("physical read IO requests").copied().unwrap_or(0)
}

fn events(own: &Own) -> Vec<Row> {
    let event = |name: &str, waits: u64, us: u64| row([name, &waits.to_string(), &us.to_string()]);
    let commits = own.statistics.get("redo synch writes").copied().unwrap_or(0);
    vec![event("db file sequential read", reads(own), reads(own) * 10), event("log file sync", commits, commits * 20)]
}

fn times(own: &Own) -> Vec<Row> {
    let logical = own.statistics.get("session logical reads").copied().unwrap_or(0);
    vec![pair("DB time", logical * 5 + reads(own) * 10), pair("DB CPU", logical * 5)]
}

fn all(state: &State, name: &str) -> u64 {
    let standing: u64 = state.sessions.values().filter_map(|own| own.statistics.get(name)).sum();
    standing + state.gone.get(name).copied().unwrap_or(0)
}

fn instance(state: &State) -> Vec<Row> {
    let names = ["session logical reads", "physical reads", "redo size", "user commits"];
    let own = names.map(|name| pair(name, all(state, name)));
    own.into_iter().chain([pair("physical writes", 10), pair("redo writes", 5)]).collect()
}

fn histogram(state: &State) -> Vec<Row> {
    let reads = all(state, "physical read IO requests");
    let bucket = |us: u64, count: u64| row(["db file sequential read", &us.to_string(), &count.to_string()]);
    vec![bucket(128, reads / 2), bucket(256, reads - reads / 2)]
}

fn proof(state: &State, sql: &str) -> Row {
    let table = numbers::word_after(sql, "        FROM ").expect("a table");
    let keys = &state.tables[&table].keys;
    let pairs = keys.iter().enumerate().map(|(place, key)| (place as f64, (*key - 1) as f64));
    let rho = numbers::correlation(pairs, keys.len());
    let extreme = |key: Option<&u64>| key.copied().unwrap_or(0).to_string();
    let (least, most) = (extreme(keys.iter().min()), extreme(keys.iter().max()));
    row([&keys.len().to_string(), &keys.len().to_string(), &least, &most, &format!("{rho:.6}")])
}

fn pair_proof(state: &State, sql: &str) -> Row {
    let tables: Vec<String> =
        sql.split("\n    FROM ").skip(1).filter_map(|rest| numbers::word_after(&format!("\n{rest}"), "\n")).collect();
    let places = |name: &String| {
        let keys = &state.tables[name].keys;
        let mut places = vec![0_u32; keys.len() + 1];
        for (place, key) in (0..).zip(keys.iter()) {
            places[*key as usize] = place;
        }
        places
    };
    let (one, other) = (places(&tables[0]), places(&tables[1]));
    let pairs = one.iter().zip(&other).skip(1).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    row([&format!("{:.6}", numbers::correlation(pairs, one.len() - 1))])
}
