//! The statements of a session's work.

use std::collections::BTreeSet;
use std::fmt::Write;

use mindful_core::workload::{Op, Redo, Workload};

use crate::names::{NUMBERS, Namespace, TableKind};

/// The access of a multi-block read to its blocks within one row of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One key, by equality.
    Key,
    /// A range, by a stored function of ours: a correlated range would be planned as a full scan.
    Function,
    /// A range, by a join of numbers, where no function may be made. MariaDB makes numbers up.
    Sequence,
    /// The same with a table of numbers.
    Numbers,
}

/// Number of blocks of the longest read.
pub(crate) fn longest(workload: &Workload) -> u64 {
    // Older arithmetic visits one block more than its work unit.
    (workload.work_unit + 1).min(workload.scale).max(1)
}

/// Reads of one block with every knob off need no range.
pub(crate) fn is_single(workload: &Workload) -> bool {
    workload.work_unit == 1 && workload.compatibility == mindful_core::workload::Compatibility::Mindful
}

/// The function that counts a range of a schema's keys.
pub(crate) fn function(namespace: &Namespace, schema: u32) -> String {
    namespace.qualified(&format!("visit_{schema}"))
}

pub(crate) fn create_function(namespace: &Namespace, schema: u32) -> String {
    include_str!("../../sql/visit.sql")
        .replace("{{function}}", &function(namespace, schema))
        .replace("{{table}}", &namespace.table(TableKind::Blocks, schema))
}

/// One statement that makes many reads, each timed, none begun after the deadline. Parameters: the keys as JSON (see
/// [`keys`]) and the deadline. A row is one operation: begin, blocks, end.
pub(crate) fn batch(workload: &Workload, namespace: &Namespace, schemas: &BTreeSet<u32>, reach: Reach) -> String {
    let visits: Vec<String> = schemas.iter().map(|schema| visit(workload, namespace, *schema, reach)).collect();
    let visit = match visits.as_slice() {
        [only] => only.clone(),
        several => {
            let cases = schemas.iter().zip(several).fold(String::new(), |mut cases, (schema, visit)| {
                let _ = write!(cases, " WHEN {schema} THEN {visit}");
                cases
            });
            format!("CASE j.s{cases} END")
        }
    };
    include_str!("../../sql/batch.sql").replace("{{visit}}", &visit).replace("{{columns}}", columns(schemas, reach))
}

fn visit(workload: &Workload, namespace: &Namespace, schema: u32, reach: Reach) -> String {
    let table = namespace.table(TableKind::Blocks, schema);
    let count = longest(workload);
    match reach {
        Reach::Key => format!("(SELECT COUNT(seq) FROM {table} FORCE INDEX (k) WHERE k = j.a)"),
        Reach::Function => format!("{}(j.a, j.a + j.n - 1)", function(namespace, schema)),
        Reach::Sequence => joined(&format!("seq_0_to_{}", count - 1), "seq", &table),
        Reach::Numbers => joined(&namespace.qualified(NUMBERS), "n", &table),
    }
}

fn joined(numbers: &str, number: &str, table: &str) -> String {
    format!(
        "(SELECT COUNT(b.seq) FROM {numbers} s STRAIGHT_JOIN {table} b FORCE INDEX (k) ON b.k = j.a + s.{number} \
         WHERE s.{number} < j.n)"
    )
}

fn columns(schemas: &BTreeSet<u32>, reach: Reach) -> &'static str {
    match (is_several(schemas), matches!(reach, Reach::Key)) {
        (false, true) => "a BIGINT UNSIGNED PATH '$'",
        (true, true) => "a BIGINT UNSIGNED PATH '$[0]', s INT UNSIGNED PATH '$[1]'",
        (false, false) => "a BIGINT UNSIGNED PATH '$[0]', n INT UNSIGNED PATH '$[1]'",
        (true, false) => "a BIGINT UNSIGNED PATH '$[0]', n INT UNSIGNED PATH '$[1]', s INT UNSIGNED PATH '$[2]'",
    }
}

fn is_several(schemas: &BTreeSet<u32>) -> bool {
    schemas.len() > 1
}

pub(crate) fn keys(ops: &[Op], schemas: &BTreeSet<u32>, reach: Reach) -> String {
    let mut json = String::with_capacity(ops.len() * 12 + 2);
    for op in ops {
        json.push(if json.is_empty() { '[' } else { ',' });
        let a = op.first_key;
        let _ = match (is_several(schemas), reach) {
            (false, Reach::Key) => write!(json, "{a}"),
            (true, Reach::Key) => write!(json, "[{a},{}]", op.schema),
            (false, _) => write!(json, "[{a},{}]", op.blocks),
            (true, _) => write!(json, "[{a},{},{}]", op.blocks, op.schema),
        };
    }
    json.push(']');
    json
}

pub(crate) fn select(namespace: &Namespace, schema: u32) -> String {
    let table = namespace.table(TableKind::Blocks, schema);
    format!("SELECT COUNT(seq) FROM {table} FORCE INDEX (k) WHERE k BETWEEN ? AND ?")
}

/// An update of the keys from the first parameter to the second.
pub(crate) fn update(workload: &Workload, namespace: &Namespace, schema: u32) -> String {
    let template = match workload.redo {
        Redo::Light => include_str!("../../sql/update_light.sql"),
        Redo::Heavy => include_str!("../../sql/update_heavy.sql"),
    };
    template.replace("{{table}}", &namespace.table(TableKind::Blocks, schema))
}

/// A read of a whole table, with the server's time before and after it.
pub(crate) fn scan(workload: &Workload, namespace: &Namespace, schema: u32) -> String {
    let kind = TableKind::scanned_by(workload.access);
    let table = namespace.table(kind, schema);
    format!("SELECT SYSDATE(6), (SELECT COUNT(seq) FROM {table} FORCE INDEX (PRIMARY)), SYSDATE(6)")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mindful_core::workload::OpKind;

    use super::*;

    fn namespace() -> Namespace {
        Namespace { name: "mindful".to_owned() }
    }

    fn op(first_key: u64, blocks: u64, schema: u32) -> Op {
        Op {
            index: 0,
            kind: OpKind::Select,
            schema,
            first_key,
            blocks,
            hot: false,
            hot_schema: false,
            think: Duration::ZERO,
        }
    }

    #[test]
    fn keys_contain_only_what_the_statement_needs() {
        let (one, two) = (BTreeSet::from([3]), BTreeSet::from([1, 3]));
        let ops = [op(7, 2, 3), op(9, 1, 1)];
        assert_eq!(keys(&ops, &one, Reach::Key), "[7,9]");
        assert_eq!(keys(&ops, &two, Reach::Key), "[[7,3],[9,1]]");
        assert_eq!(keys(&ops, &one, Reach::Function), "[[7,2],[9,1]]");
        assert_eq!(keys(&ops, &two, Reach::Numbers), "[[7,2,3],[9,1,1]]");
    }

    #[test]
    fn a_batch_of_several_schemas_chooses_the_table_by_the_key() {
        let w = Workload::reads_only(2, 100, 4);
        let text = batch(&w, &namespace(), &BTreeSet::from([1, 2]), Reach::Function);
        assert!(text.contains("CASE j.s WHEN 1 THEN `mindful`.`visit_1`(j.a, j.a + j.n - 1) WHEN 2 THEN"), "{text}");
        let text = batch(&w, &namespace(), &BTreeSet::from([1]), Reach::Sequence);
        assert!(text.contains("seq_0_to_4 s STRAIGHT_JOIN `mindful`.`blocks_1` b"), "{text}");
        assert!(!text.contains("{{"), "{text}");
    }
}
