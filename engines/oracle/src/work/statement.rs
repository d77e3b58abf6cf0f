//! Every SQL and PL/SQL text, rendered from the files in `sql`. Each begins with a comment that names it, so V$SQL
//! shows that it is mindful's.

use std::collections::BTreeSet;

use mindful_core::dataset::{Content, DatasetPlan, LayoutProof};
use mindful_core::workload::draw;
use mindful_core::workload::{Commit, Compatibility, Redo, Workload};

use crate::dataset::layout::Layout;
use crate::names::{MARK, Namespace, TableKind};

/// Columns that heavy redo changes.
const NARROW: usize = 8;
const NARROW_HASHES: usize = 2;
const WIDE_HASHES: usize = 12;
const HASH_BYTES: usize = 64;

/// `template` with each `{name}` replaced.
pub fn render(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(template.len());
    let mut parts = template.split('{');
    text += parts.next().unwrap_or_default();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap_or((part, ""));
        let value = values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        debug_assert!(value.is_some(), "nothing fills {name}");
        text += value.unwrap_or_default();
        text += rest;
    }
    text
}

fn statement(template: &str, values: &[(&str, &str)]) -> String {
    render(template.trim_end(), values)
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Storage {
    /// The tablespace; `None`: the account's own.
    pub tablespace: Option<String>,
    /// Without redo, so lost in recovery and on a standby.
    pub nologging: bool,
    pub parallel: u32,
}

impl Storage {
    fn clauses(&self) -> [(&'static str, String); 3] {
        [
            ("tablespace", self.tablespace.as_ref().map_or_else(String::new, |name| format!(" TABLESPACE {name}"))),
            ("logging", if self.nologging { " NOLOGGING" } else { " LOGGING" }.to_owned()),
            ("parallel", if self.parallel > 1 { format!(" PARALLEL {}", self.parallel) } else { String::new() }),
        ]
    }
}

pub fn create_registry(namespace: &Namespace) -> [String; 2] {
    let values = [("registry", &*namespace.registry()), ("mark", MARK)];
    [
        statement(include_str!("../../sql/load/create_registry.sql"), &values),
        statement(include_str!("../../sql/load/mark_registry.sql"), &values),
    ]
}

pub(crate) fn of_registry(template: &str, namespace: &Namespace) -> String {
    statement(template, &[("registry", &namespace.registry())])
}

pub(crate) fn of_table(template: &str, table: &str) -> String {
    statement(template, &[("table", table)])
}

pub(crate) fn of_names<'a>(template: &str, names: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.map(|name| format!("'{name}'")).collect();
    statement(template, &[("names", &quoted.join(", "))])
}

pub fn blocks(table: &str, layout: &Layout, plan: &DatasetPlan, schema: u32, block_bytes: u64, on: &Storage) -> String {
    let (left, right, count) = (layout.left.to_string(), layout.right.to_string(), layout.blocks.to_string());
    let mut rounds =
        render(include_str!("../../sql/load/generator.sql").trim_end(), &[("left", &left), ("right", &right)]);
    for (at, round) in layout.rounds.iter().enumerate() {
        let template = match at % 2 {
            0 => include_str!("../../sql/load/round_left.sql"),
            _ => include_str!("../../sql/load/round_right.sql"),
        };
        let (plus, times) = (round.plus.to_string(), round.times.to_string());
        let values = [("plus", &*plus), ("times", &*times), ("left", &*left), ("right", &*right), ("before", &*rounds)];
        rounds = render(template.trim_end(), &values);
    }
    let columns = columns(block_bytes);
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let fillers = fillers(&columns, plan, schema);
    let clauses = on.clauses();
    let mut values =
        vec![("table", table), ("right", &*right), ("rounds", &*rounds), ("blocks", &*count), ("fillers", &*fillers)];
    let names = names.join(", ");
    values.push(("columns", &names));
    values.extend(clauses.iter().map(|(name, clause)| (*name, &**clause)));
    statement(include_str!("../../sql/load/blocks.sql"), &values)
}

/// Names of the filling columns, and the number of hashes in each: a row fills most of its block, so that no second one
/// fits even if PCTFREE is ignored.
fn columns(block_bytes: u64) -> Vec<(String, usize)> {
    let narrow = (1..=NARROW).map(|at| (format!("f{at}"), NARROW_HASHES));
    let room = block_bytes.min(8_192).saturating_sub(1_500) as usize;
    let wide = (1..=room / (WIDE_HASHES * HASH_BYTES)).map(|at| (format!("g{at}"), WIDE_HASHES));
    narrow.chain(wide.take(7)).collect()
}

fn fillers(columns: &[(String, usize)], plan: &DatasetPlan, schema: u32) -> String {
    let all: usize = columns.iter().map(|(_, hashes)| hashes).sum();
    let random = match plan.content {
        Content::Repeated => 0,
        Content::Mixed { compress_ratio, .. } => ((all as f64 / compress_ratio.max(1.0)).round() as usize).min(all),
    };
    let salt = draw::mix64(plan.seed ^ u64::from(schema) << 40);
    let mut left = random;
    let column = |(name, hashes): &(String, usize)| {
        // Random bytes are spread over all columns, so that heavy redo is as compressible as the rest.
        let here = left.min((hashes * random).div_ceil(all.max(1)));
        left -= here;
        let mut parts: Vec<String> =
            (1..=here).map(|part| format!("STANDARD_HASH('{salt:x}.{name}.{part}.' || k, 'SHA512')")).collect();
        if here < *hashes {
            let rest = (hashes - here) * HASH_BYTES;
            parts.push(format!("UTL_RAW.COPIES(HEXTORAW('58'), {rest})"));
        }
        let whole = if parts.len() == 1 { parts.remove(0) } else { format!("UTL_RAW.CONCAT({})", parts.join(", ")) };
        format!("    CAST({whole} AS RAW({}))", hashes * HASH_BYTES)
    };
    columns.iter().map(column).collect::<Vec<_>>().join(",\n")
}

/// Bytes that a block of a new table takes, for the check of room: the block, and its share of the index.
pub(crate) fn stored_bytes(block_bytes: u64) -> u64 {
    block_bytes + block_bytes / 100 + 32
}

pub fn index(table: &str, on: &Storage) -> String {
    let clauses = on.clauses();
    let mut values = vec![("table", table)];
    values.extend(clauses.iter().map(|(name, clause)| (*name, &**clause)));
    statement(include_str!("../../sql/load/index.sql"), &values)
}

fn changes(redo: Redo) -> String {
    let narrow = "b.mark = b.mark + 1, b.tail = b.tail + 1";
    match redo {
        Redo::Light => narrow.to_owned(),
        Redo::Heavy => {
            // Each column takes the bytes of the next: the same length, but other content.
            let turned = (1..=NARROW).map(|at| format!("b.f{at} = b.f{}", at % NARROW + 1)).collect::<Vec<_>>();
            format!("{}, {narrow}", turned.join(", "))
        }
    }
}

pub(crate) fn commit(workload: &Workload) -> &'static str {
    match (workload.compatibility, workload.commit_wait) {
        // As the kit has it: in PL/SQL a bare COMMIT does not wait.
        (Compatibility::Slob, true) => "COMMIT",
        (_, true) => "COMMIT WRITE IMMEDIATE WAIT",
        (_, false) => "COMMIT WRITE BATCH NOWAIT",
    }
}

pub(crate) fn sleep(major: u32) -> &'static str {
    if major >= 18 { "DBMS_SESSION.SLEEP" } else { "DBMS_LOCK.SLEEP" }
}

/// Bytes of an operation in the RAW of a slice: first key, later keys, word; then a pause, if there are pauses.
pub(crate) fn entry_bytes(workload: &Workload) -> usize {
    if workload.think_time.is_some() { 16 } else { 12 }
}

/// The block of a slice of a session that visits `schemas`; a schema's place in them is its slot.
pub fn slice(workload: &Workload, schemas: &BTreeSet<u32>, namespace: &Namespace, major: u32) -> String {
    let branches = |template: &str, kind: TableKind, changes: &str| {
        let branch = |(slot, schema): (usize, &u32)| {
            let (slot, table) = (slot.to_string(), namespace.table(kind, *schema));
            render(template, &[("slot", &slot), ("table", &table), ("changes", changes)])
        };
        schemas.iter().enumerate().map(branch).collect::<String>()
    };
    let mut updates = String::new();
    if !workload.update_pct.is_none() {
        let own = branches(include_str!("../../sql/slice/update.sql"), TableKind::Blocks, &changes(workload.redo));
        let commit = commit_part(workload);
        let values = [("branches", &*own), ("commit", commit.trim_end())];
        updates = render(include_str!("../../sql/slice/updates.sql"), &values);
    }
    let mut scans = String::new();
    if !workload.scan_pct.is_none() {
        let own = branches(include_str!("../../sql/slice/scan.sql"), TableKind::Scan, "");
        scans = render(include_str!("../../sql/slice/scans.sql"), &[("branches", &own)]);
    }
    let values = [
        ("entry_bytes", &*entry_bytes(workload).to_string()),
        ("sleep", sleep(major)),
        ("selects", &*branches(include_str!("../../sql/slice/select.sql"), TableKind::Blocks, "")),
        ("updates", &*updates),
        ("scans", &*scans),
        ("think", if workload.think_time.is_some() { include_str!("../../sql/slice/think.sql") } else { "" }),
    ];
    statement(include_str!("../../sql/slice/block.sql"), &values)
}

fn commit_part(workload: &Workload) -> String {
    let words = commit(workload);
    match workload.commit {
        Commit::Each => render(include_str!("../../sql/slice/commit_each.sql"), &[("commit", words)]),
        Commit::Every(every) => {
            let every = every.to_string();
            render(include_str!("../../sql/slice/commit_every.sql"), &[("commit", words), ("every", &every)])
        }
        Commit::Slice => include_str!("../../sql/slice/commit_later.sql").to_owned(),
    }
}

pub fn client_select(table: &str) -> String {
    of_table(include_str!("../../sql/client/select.sql"), table)
}

pub fn client_update(table: &str, redo: Redo) -> String {
    statement(include_str!("../../sql/client/update.sql"), &[("table", table), ("changes", &changes(redo))])
}

pub fn client_scan(table: &str) -> String {
    of_table(include_str!("../../sql/client/scan.sql"), table)
}

pub fn client_commit(workload: &Workload) -> String {
    statement(include_str!("../../sql/client/commit.sql"), &[("commit", commit(workload))])
}

/// The statement that explains `of`. It contains keys as numbers, because EXPLAIN does not accept bind values.
pub fn explain(of: &str) -> String {
    let of = of.replace(":first_key", "1").replace(":last_key", "64");
    statement(include_str!("../../sql/client/explain.sql"), &[("statement", &of)])
}

pub fn prove_pair(one: &str, other: &str) -> String {
    statement(include_str!("../../sql/verify/pair.sql"), &[("one", one), ("other", other)])
}

pub fn prove_schema(table: &str) -> String {
    of_table(include_str!("../../sql/verify/schema.sql"), table)
}

pub fn layout(plan: &DatasetPlan, blocks: u64, schema: u32) -> Layout {
    Layout::new(blocks, plan.seed, schema, LayoutProof::MAX_CORRELATION)
}

pub fn name(text: &str) -> Option<&str> {
    text.strip_prefix("/* mindful ")?.split_once(" */").map(|(name, _)| name)
}
