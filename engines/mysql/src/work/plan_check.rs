//! How the server will carry operations out: `EXPLAIN` of each statement, before a run.

use std::collections::BTreeSet;

use mindful_core::contract::description::AccessPath;
use mindful_core::plan::units::with_article;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{Access, OpKind, Workload};
use mindful_core::{Error, Result};
use mysql_common::row::Row;

use crate::connect::Conn;
use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::work::statement::{self, Reach};
use crate::work::switches;

/// Ways to a row by an index, as `EXPLAIN` names them in its column `type`.
const BY_INDEX: &[&str] = &["eq_ref", "ref", "const", "range"];
const WHOLE: &[&str] = &["ALL", "index"];

/// Text of `EXPLAIN` for a range that ends within the index.
const PUSHED_DOWN: &str = "Using index condition";

/// A far instant, in the server's notation.
const FAR: &str = "'2099-01-01 00:00:00.000000'";

/// The paths of all kinds of operation in `workload`, checked in every schema in use; refuses any that is not pure.
pub(crate) fn check(
    link: &Link,
    workload: &Workload,
    namespace: &Namespace,
    reach: Option<Reach>,
) -> Result<Vec<AccessPath>> {
    let mut paths: Vec<AccessPath> = Vec::new();
    let flavor = link.version()?.flavor;
    for schema in 1..=workload.schemas {
        let place = format!("checking the plans on schema {schema}");
        let found = link.run(&place, |conn| {
            switches::set(conn, flavor)?;
            paths_on(conn, workload, namespace, schema, reach)
        })?;
        for path in found {
            if !path.pure {
                return Err(impure(&path));
            }
            if !paths.iter().any(|known| known.kind == path.kind) {
                paths.push(path);
            }
        }
    }
    Ok(paths)
}

/// Paths that are not the method's, found on the first schema, for a check without a run. A statement that cannot be
/// planned is reported when it is run.
pub(crate) fn impurities(link: &Link, workload: &Workload, namespace: &Namespace) -> Result<Vec<Finding>> {
    let flavor = link.version()?.flavor;
    let paths = link.run("checking the plans", |conn| {
        switches::set(conn, flavor)?;
        Ok(paths_on(conn, workload, namespace, 1, None).unwrap_or_default())
    })?;
    let finding = |path: AccessPath| {
        let text = "The server does not take the access path of the method, so a run is refused: its reads would not be \
                    single random pages. Check that the unique index k exists, or load again after `mindful cleanup`";
        codes::PLAN_SHAPE.finding(text, format!("{}: {}", path.kind, path.shape))
    };
    Ok(paths.into_iter().filter(|path| !path.pure).map(finding).collect())
}

fn impure(path: &AccessPath) -> Error {
    let wanted = if path.kind == OpKind::Scan.name() { "a read of the whole table" } else { "a search of the index k" };
    Error::target(
        format!("the server carries {} out as {}, not as {wanted}", with_article(&path.kind), path.shape),
        "check that the unique index k exists, or load again after `mindful cleanup`",
    )
}

fn paths_on(
    conn: &mut Conn,
    workload: &Workload,
    namespace: &Namespace,
    schema: u32,
    reach: Option<Reach>,
) -> Result<Vec<AccessPath>, Failure> {
    let mut paths = Vec::new();
    let blocks = Namespace::table_name(TableKind::Blocks, schema);
    if workload.update_pct.percent() < 100.0 && workload.access != Access::Scan {
        for statement in selects(workload, namespace, schema, reach) {
            paths.push(explain(conn, OpKind::Select, BY_INDEX, &blocks, &statement)?);
        }
    }
    if !workload.update_pct.is_none() {
        let statement = ranged(&statement::update(workload, namespace, schema));
        paths.push(explain(conn, OpKind::Update, BY_INDEX, &blocks, &statement)?);
    }
    if !workload.scan_pct.is_none() {
        let kind = TableKind::scanned_by(workload.access);
        let statement = statement::scan(workload, namespace, schema);
        paths.push(explain(conn, OpKind::Scan, WHOLE, &Namespace::table_name(kind, schema), &statement)?);
    }
    Ok(paths)
}

/// The statements in a read of `schema`: that of one operation, or that of many with the function it calls.
fn selects(workload: &Workload, namespace: &Namespace, schema: u32, reach: Option<Reach>) -> Vec<String> {
    let one = ranged(&statement::select(namespace, schema));
    let Some(reach) = reach else { return vec![one] };
    if reach == Reach::Function {
        // The plan of a caller does not show the reads of its functions.
        return vec![one];
    }
    let schemas = BTreeSet::from([schema]);
    let op = Draws::new(workload, 0, schema).op(0);
    let keys = statement::keys(&[op], &schemas, reach);
    let batch = statement::batch(workload, namespace, &schemas, reach);
    vec![batch.replacen('?', &format!("'{keys}'"), 1).replacen('?', FAR, 1)]
}

fn ranged(statement: &str) -> String {
    statement.replacen('?', "1", 1).replacen('?', "2", 1)
}

/// Every access to `table` must be one of `ways`, and there must be one.
fn explain(conn: &mut Conn, kind: OpKind, ways: &[&str], table: &str, statement: &str) -> Result<AccessPath, Failure> {
    let rows: Vec<Row> = conn.query(format!("EXPLAIN {statement}"))?;
    let steps: Vec<Step> = rows.iter().map(Step::from_row).collect();
    let ours = |step: &&Step| step.table == table || step.table == "b";
    let words: Vec<String> = steps.iter().filter(ours).map(Step::words).collect();
    let by_k = |step: &Step| ways != BY_INDEX || step.key == "k";
    // A statement that reads a range without its end in the index condition visits rows after it.
    let ends = |step: &Step| kind != OpKind::Select || step.way != "range" || step.text.contains(PUSHED_DOWN);
    let pure = |step: &Step| ways.contains(&&*step.way) && by_k(step) && ends(step);
    let shape = if words.is_empty() { "no access to the table".to_owned() } else { words.join(" and ") };
    let pure = !words.is_empty() && steps.iter().filter(ours).all(pure);
    let detail = steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>().join("; ");
    Ok(AccessPath::new(kind.name(), shape, pure, detail))
}

struct Step {
    table: String,
    way: String,
    key: String,
    text: String,
}

impl Step {
    fn from_row(row: &Row) -> Self {
        let column = |name: &str| row.get_opt::<Option<String>, _>(name).and_then(Result::ok).flatten();
        let named = |name: &str| column(name).unwrap_or_default();
        let columns = ["id", "select_type", "table", "type", "key", "ref", "rows", "Extra"]
            .into_iter()
            .filter_map(|name| Some(format!("{name} {}", column(name).filter(|value| !value.is_empty())?)));
        let text = columns.collect::<Vec<_>>().join(", ");
        Self { table: named("table"), way: named("type"), key: named("key"), text }
    }

    fn words(&self) -> String {
        let by = if self.key.is_empty() { String::new() } else { format!(" using {}", self.key) };
        format!("{}{by} on {}", self.way, self.table)
    }
}
