//! Checks that the server executes operations as the method requires: plain index scans with one heap visit a row, or
//! the access path of the plan.

use mindful_core::contract::description::AccessPath;
use mindful_core::plan::units::with_article;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::{Access, Workload};
use mindful_core::{Error, Result};
use serde_json::Value;
use tokio_postgres::{Client, SimpleQueryMessage};

use crate::checks::idle_settings;
use crate::connect::link::Link;
use crate::error::Failure;
use crate::names::{Namespace, TableKind};
use crate::work::access;
use crate::work::statement::Script;

/// The shapes of all kinds of operation in `workload`, checked in every schema in use; refuses any that is not pure.
pub(crate) fn check(link: &Link, workload: &Workload, namespace: &Namespace) -> Result<Vec<AccessPath>> {
    let client = link.connect(0)?;
    let mut shapes: Vec<AccessPath> = Vec::new();
    let facts = link.run("checking the plans", set_up(&client, workload))?;
    // Where sessions visit several schemas, each is checked separately, and then all that the first session visits.
    let alone = Workload { spread_sessions: None, ..workload.clone() };
    let looks = (1..=workload.schemas).map(|schema| (&alone, schema));
    for (workload, schema) in looks.chain(workload.spread_sessions.map(|_| (workload, 1))) {
        let place = format!("checking the plans on schema {schema}");
        for shape in link.run(&place, shapes_on(&client, workload, schema, namespace))? {
            if !shape.pure {
                return Err(impure(&shape, workload.access));
            }
            if !shapes.iter().any(|known| known.kind == shape.kind) {
                let idle_settings = idle_settings::names(&facts.of_path(workload.access, shape.kind == "scan"));
                shapes.push(AccessPath { idle_settings, ..shape });
            }
        }
    }
    Ok(shapes)
}

/// Shapes that are not the method's, found on the first schema, for a check without a run. A statement that cannot be
/// planned is reported when it is run.
pub(crate) fn impurities(link: &Link, workload: &Workload, namespace: &Namespace) -> Result<Vec<Finding>> {
    let client = link.connect(0)?;
    let shapes = link.run("checking the plans", async {
        set_up(&client, workload).await?;
        Ok(shapes_on(&client, workload, 1, namespace).await.unwrap_or_default())
    })?;
    let finding = |shape: AccessPath| {
        let text = "The server does not take the access path of the method, so a run is refused: its reads would not be \
                    single random blocks. Check that the index on k exists, is valid and a B-tree, or load again after \
                    `mindful cleanup`";
        codes::PLAN_SHAPE.finding(text, format!("{}: {}", shape.kind, shape.shape))
    };
    Ok(shapes.into_iter().filter(|shape| !shape.pure).map(finding).collect())
}

async fn set_up(client: &Client, workload: &Workload) -> Result<idle_settings::Server, Failure> {
    client.batch_execute(include_str!("../../sql/session.sql")).await?;
    client.batch_execute(access::settings(workload.access)).await?;
    Ok(idle_settings::Server::read(client).await?)
}

fn impure(shape: &AccessPath, access: Access) -> Error {
    let wanted = access::in_words(if shape.kind == "scan" { Access::Scan } else { access });
    Error::target(
        format!("the server carries {} out as {}, not as {wanted}", with_article(&shape.kind), shape.shape),
        "check that the index on k exists and is valid, or load again after `mindful cleanup`",
    )
}

async fn shapes_on(
    client: &Client,
    workload: &Workload,
    schema: u32,
    namespace: &Namespace,
) -> Result<Vec<AccessPath>, Failure> {
    let script = Script::new(workload, 0, schema, namespace);
    let mut shapes = Vec::new();
    if workload.update_pct.percent() < 100.0 && workload.access != Access::Scan {
        let batch = script.batch("$1::bigint", "$2::bigint", "$3::timestamptz");
        shapes.push(explain(client, "select", access::nodes(workload.access), &batch, "1, 16, now()").await?);
    }
    if !workload.update_pct.is_none() {
        let update = script.update_statement(&script.home(), "$1::bigint");
        shapes.push(explain(client, "update", access::nodes(Access::Index), &update, "1").await?);
    }
    if !workload.scan_pct.is_none() {
        let scan = format!(
            "SELECT count(seq) FROM {} WHERE $1",
            namespace.table(TableKind::scanned_by(workload.access), schema)
        );
        shapes.push(explain(client, "scan", access::nodes(Access::Scan), &scan, "true").await?);
    }
    Ok(shapes)
}

/// The plan of `statement` as a session will have it: prepared, planned without knowing the values.
pub(crate) async fn explain(
    client: &Client,
    kind: &str,
    access: &[&str],
    statement: &str,
    values: &str,
) -> Result<AccessPath, Failure> {
    client.batch_execute(&format!("PREPARE mindful_shape AS {statement}")).await?;
    let explained = client.simple_query(&format!("EXPLAIN (FORMAT JSON) EXECUTE mindful_shape({values})")).await;
    client.batch_execute("DEALLOCATE mindful_shape").await?;
    let mut plan_text = String::new();
    for message in explained? {
        if let SimpleQueryMessage::Row(row) = message {
            plan_text += row.get(0).unwrap_or_default();
        }
    }
    let plan = serde_json::from_str(&plan_text).map_err(|error| {
        Error::run(format!("the plan cannot be read ({error})"), "report this with the server's version")
    })?;
    Ok(shape(kind, access, &plan))
}

/// Every access to a table must be one of `access`.
fn shape(kind: &str, access: &[&str], plan: &Value) -> AccessPath {
    let mut nodes = Vec::new();
    collect(plan, &mut nodes);
    let mut words: Vec<String> = nodes.iter().map(|node| words(node)).collect();
    words.dedup();
    let pure = !nodes.is_empty() && nodes.iter().all(|node| access.contains(&text(node, "Node Type")));
    AccessPath::new(kind, words.join(" and "), pure, plan.to_string())
}

/// The nodes that touch a table or an index, outermost first.
fn collect<'a>(value: &'a Value, nodes: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, nodes)),
        Value::Object(map) => {
            if text(value, "Node Type").contains("Scan") && text(value, "Node Type") != "Subquery Scan" {
                nodes.push(value);
            }
            map.values().for_each(|item| collect(item, nodes));
        }
        _ => {}
    }
}

fn text<'a>(node: &'a Value, key: &str) -> &'a str {
    node.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn words(node: &Value) -> String {
    let mut words = text(node, "Node Type").to_owned();
    for (key, link) in [("Index Name", " using "), ("Relation Name", " on ")] {
        let name = text(node, key);
        if !name.is_empty() {
            words += link;
            words += name;
        }
    }
    words
}
