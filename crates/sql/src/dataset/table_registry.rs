//! The tables of a dataset as a registry in the database lists them: which exist, which are missing, which belong to
//! others.

use mindful_core::contract::OwnedObject;
use mindful_core::contract::event::{Events, emit_note};
use mindful_core::dataset::{Content, Dataset, DatasetPlan, LayoutProof};
use mindful_core::plan::MOST_SCHEMAS;
use mindful_core::plan::units::{format_counted, format_whole};
use mindful_core::workload::Access;
use mindful_core::{Error, Result};

/// Why a cleanup keeps an object of the namespace, and the namespace around such a one.
pub const NOT_REGISTERED: &str = "not in the registry of mindful: not ours";
pub const HOLDS_OTHERS: &str = "holds objects that are not mindful's";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// One row a block, indexed.
    Blocks,
    /// One row a block, no index on the visited key: for full scans.
    Scan,
}

impl TableKind {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Scan => "scan",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Blocks, Self::Scan].into_iter().find(|kind| kind.word() == word)
    }

    pub fn scanned_by(access: Access) -> Self {
        if access == Access::Scan { Self::Blocks } else { Self::Scan }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    pub kind: TableKind,
    /// Schema number, from 1.
    pub schema: u32,
    /// Rows, and so blocks.
    pub blocks: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RegisteredTable {
    pub name: String,
    /// Its purpose; `None` for a kind that this version does not support.
    pub kind: Option<TableKind>,
    /// Schema number, from 1.
    pub schema: u32,
    /// Visited rows, and so blocks.
    pub blocks: u64,
    pub seed: u64,
    /// Contents of its filler; `None` if unreadable.
    pub content: Option<Content>,
    pub shape: i32,
    /// The proof of its layout, unless the table changed since.
    pub proof: Option<LayoutProof>,
    pub stands: bool,
    pub table_bytes: u64,
    pub index_bytes: u64,
}

impl RegisteredTable {
    pub(crate) fn matches(&self, kind: TableKind, schema: u32) -> bool {
        self.stands && self.kind == Some(kind) && self.schema == schema
    }

    /// Bytes of the table and its indexes.
    pub fn bytes(&self) -> u64 {
        self.table_bytes + self.index_bytes
    }

    /// Difference from `plan` with rows of `shape`; `None` without one.
    fn difference(&self, plan: &DatasetPlan, shape: i32) -> Option<String> {
        let blocks = if self.kind == Some(TableKind::Scan) { plan.scan_blocks } else { plan.blocks_per_schema };
        let mut differs = Vec::new();
        if self.blocks != blocks && blocks != 0 {
            differs.push(format!("{} instead of {}", format_counted(self.blocks, "block"), format_whole(blocks)));
        }
        if self.seed != plan.seed {
            differs.push(format!("seed {} instead of {}", self.seed, plan.seed));
        }
        if self.content != Some(plan.content) {
            differs.push("other content".to_owned());
        }
        if self.shape != shape {
            differs.push(format!("row shape {} instead of {shape}", self.shape));
        }
        (!differs.is_empty()).then(|| differs.join(", "))
    }
}

/// Why a table is not used: it would run code of others, or is theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// After the table's name: `has the trigger x`.
    pub what: String,
    /// Whether the table is ours nevertheless, and so may be removed.
    pub ours: bool,
}

impl Fault {
    /// The refusal to use `table`, by its qualified name.
    pub fn refusal(&self, table: &str) -> Error {
        let what = format!("{table} is not as mindful made it: it {}", self.what);
        Error::target(what, "remove that, or `mindful cleanup` and load again")
    }
}

/// The fate of `table` in a cleanup; it is called `name` in statements.
pub fn owned_object(name: String, table: &RegisteredTable, fault: Option<&Fault>) -> OwnedObject {
    let theirs = fault.filter(|fault| !fault.ours).map(|fault| format!("it {}", fault.what));
    OwnedObject::new(name, Some(table.bytes()), theirs.as_deref())
}

/// The dataset that complete tables with rows of one of `shapes` make up: schemas 1 to N without a gap.
pub fn assemble_dataset<'a>(
    tables: impl Iterator<Item = &'a RegisteredTable>,
    shapes: &[i32],
    block_bytes: u64,
) -> Option<Dataset> {
    let tables: Vec<_> = tables.collect();
    let of = |kind, schema| tables.iter().find(|table| table.matches(kind, schema) && shapes.contains(&table.shape));
    let first = of(TableKind::Blocks, 1)?;
    let scan_blocks = of(TableKind::Scan, 1).map_or(0, |table| table.blocks);
    let whole = |schema: &u32| {
        of(TableKind::Blocks, *schema).is_some() && (scan_blocks == 0 || of(TableKind::Scan, *schema).is_some())
    };
    let dataset = Dataset {
        schemas: (1..=MOST_SCHEMAS).take_while(whole).count() as u32,
        blocks_per_schema: first.blocks,
        scan_blocks,
        block_bytes,
        bytes: tables.iter().map(|table| table.table_bytes).sum(),
        index_bytes: Some(tables.iter().map(|table| table.index_bytes).sum()),
        seed: first.seed,
        content: first.content?,
    };
    Some(dataset).filter(Dataset::is_possible)
}

/// The stored proof of the first `schemas` schemas; `None` unless all were proven together.
pub fn join_proof<'a>(tables: impl Iterator<Item = &'a RegisteredTable>, schemas: u32) -> Option<LayoutProof> {
    let tables: Vec<_> = tables.collect();
    let mut whole: Option<LayoutProof> = None;
    for schema in 1..=schemas {
        let part = tables.iter().find(|table| table.matches(TableKind::Blocks, schema))?.proof.clone()?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) if whole.proven_at_us == part.proven_at_us => whole.schemas.extend(part.schemas),
            Some(_) => return None,
        }
    }
    whole
}

/// The parts of `proof` to store, each with the table of its schema, as JSON: the inverse of [`join_proof`].
pub fn split_proof(proof: &LayoutProof) -> impl Iterator<Item = (u32, String)> {
    proof.schemas.iter().map(|schema| {
        let part = LayoutProof { schemas: vec![schema.clone()], ..proof.clone() };
        (schema.schema, serde_json::to_string(&part).unwrap_or_default())
    })
}

/// All tables of `plan`, the one to make first at the end.
fn wanted(plan: &DatasetPlan) -> Vec<Table> {
    let kinds = [(TableKind::Blocks, plan.blocks_per_schema), (TableKind::Scan, plan.scan_blocks)];
    let of = |schema| kinds.map(|(kind, blocks)| Table { kind, schema, blocks });
    (1..=plan.schemas).rev().flat_map(of).filter(|table| table.blocks > 0).collect()
}

/// The tables of `plan` that do not exist yet, in reverse order of creation.
pub fn missing_tables<'a>(tables: impl Iterator<Item = &'a RegisteredTable>, plan: &DatasetPlan) -> Vec<Table> {
    let tables: Vec<_> = tables.collect();
    let stands = |table: &Table| tables.iter().any(|registered| registered.matches(table.kind, table.schema));
    wanted(plan).into_iter().filter(|table| !stands(table)).collect()
}

pub fn note_resumed(missing: &[Table], plan: &DatasetPlan, events: &dyn Events) {
    let all = wanted(plan).len();
    if missing.len() < all {
        emit_note(events, format!("resuming the load: {} of {all} tables are missing", missing.len()));
    }
}

/// Existing tables must be part of `plan` with rows of `shape`; `qualified` is a table's name in messages.
pub fn refuse_other<'a>(
    mut tables: impl Iterator<Item = &'a RegisteredTable>,
    plan: &DatasetPlan,
    shape: i32,
    qualified: impl Fn(&str) -> String,
) -> Result<()> {
    let differs = |table: &RegisteredTable| Some((qualified(&table.name), table.difference(plan, shape)?));
    match tables.find_map(|table| differs(table).filter(|_| table.stands)) {
        None => Ok(()),
        Some((name, differences)) => Err(Error::plan(
            format!("{name} is loaded with {differences}"),
            "pass the same --seed, --scale and content, remove it with `mindful cleanup`, or name another --namespace",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mindful_core::contract::event::Silent;
    use mindful_core::dataset::SchemaProof;

    fn plan() -> DatasetPlan {
        let content = Content::INCOMPRESSIBLE;
        DatasetPlan { schemas: 3, blocks_per_schema: 8, scan_blocks: 4, content, seed: 7, load_streams: 1 }
    }

    fn whole() -> Vec<RegisteredTable> {
        let registered = |table: Table| RegisteredTable {
            name: format!("{}_{}", table.kind.word(), table.schema),
            kind: Some(table.kind),
            schema: table.schema,
            blocks: table.blocks,
            seed: 7,
            content: Some(Content::INCOMPRESSIBLE),
            shape: 1,
            proof: None,
            stands: true,
            table_bytes: 100,
            index_bytes: 10,
        };
        wanted(&plan()).into_iter().map(registered).collect()
    }

    #[test]
    fn a_dataset_ends_before_its_first_gap() {
        let mut tables = whole();
        let read = |tables: &[RegisteredTable]| assemble_dataset(tables.iter(), &[1], 8_192);
        let all = read(&tables).unwrap();
        assert_eq!((all.schemas, all.blocks_per_schema, all.scan_blocks), (3, 8, 4));
        assert_eq!((all.bytes, all.index_bytes), (600, Some(60)));
        let at = |tables: &[RegisteredTable], name: &str| tables.iter().position(|table| table.name == name).unwrap();
        let scan_3 = at(&tables, "scan_3");
        tables[scan_3].stands = false;
        assert_eq!(read(&tables).unwrap().schemas, 2);
        let blocks_2 = at(&tables, "blocks_2");
        tables[blocks_2].shape = 9;
        assert_eq!(read(&tables).unwrap().schemas, 1);
        let blocks_1 = at(&tables, "blocks_1");
        tables[blocks_1].kind = None;
        assert_eq!(read(&tables), None);
    }

    #[test]
    fn the_first_schema_is_made_first_and_only_what_is_missing() {
        let tables = whole();
        let made = |missing: &[Table]| missing.iter().rev().map(|table| (table.kind, table.schema)).collect::<Vec<_>>();
        let all = missing_tables(tables[..0].iter(), &plan());
        assert_eq!(made(&all)[..3], [(TableKind::Scan, 1), (TableKind::Blocks, 1), (TableKind::Scan, 2)]);
        assert_eq!(made(&missing_tables(tables[1..].iter(), &plan())), [(TableKind::Blocks, 3)]);
        assert_eq!(missing_tables(tables.iter(), &DatasetPlan { scan_blocks: 0, ..plan() }), []);
        note_resumed(&all, &plan(), &Silent);
    }

    #[test]
    fn parts_of_one_proof_make_a_whole_and_of_two_do_not() {
        let of = |schema| SchemaProof { schema, rows: 8, distinct_blocks: 8, rank_correlation: 0.0, sample: None };
        let proven = LayoutProof { schemas: (1..=3).map(of).collect(), cross_correlation: Some(0.01), proven_at_us: 5 };
        let mut tables = whole();
        for (schema, part) in split_proof(&proven) {
            let table = tables.iter_mut().find(|table| table.matches(TableKind::Blocks, schema)).unwrap();
            table.proof = serde_json::from_str(&part).ok();
        }
        assert_eq!(join_proof(tables.iter(), 3), Some(proven));
        let last = tables.iter_mut().find(|table| table.matches(TableKind::Blocks, 3)).unwrap();
        last.proof.as_mut().unwrap().proven_at_us = 6;
        assert_eq!(join_proof(tables.iter(), 3), None);
        assert!(join_proof(tables.iter(), 2).is_some());
    }

    #[test]
    fn another_dataset_is_refused_with_all_that_differs() {
        let refused = |tables: &[RegisteredTable], plan: &DatasetPlan| {
            refuse_other(tables.iter(), plan, 1, |name| format!("`a`.`{name}`")).map_err(|error| error.to_string())
        };
        let mut tables = whole();
        assert_eq!(refused(&tables, &plan()), Ok(()));
        assert_eq!(refused(&tables, &DatasetPlan { scan_blocks: 0, ..plan() }), Ok(()), "fewer tables are part of it");
        let other = DatasetPlan { seed: 8, blocks_per_schema: 9, ..plan() };
        let message = refused(&tables, &other).unwrap_err();
        assert!(
            message.contains("`a`.`blocks_3` is loaded with 8 blocks instead of 9, seed 7 instead of 8"),
            "{message}"
        );
        for table in &mut tables {
            table.stands = false;
        }
        assert_eq!(refused(&tables, &other), Ok(()));
    }
}
