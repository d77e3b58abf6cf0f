//! The proof of the layout, schema by schema: the rows of one schema are in random order of their keys, and no two schemas
//! share their order.

use mindful_core::contract::clock;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{LayoutProof, SchemaProof};
use mindful_core::{Error, Result};

/// Proves schemas 1 to `schemas` one after the other. `schema` returns the proof of one, and the data to compare the
/// next with. `pair` returns the correlation of that schema with the one before, `None` if they cannot be compared.
pub fn collect<T>(
    schemas: u32,
    stop: &StopFlag,
    mut schema: impl FnMut(u32) -> Result<(SchemaProof, T)>,
    mut pair: impl FnMut(&T, &T) -> Result<Option<f64>>,
) -> Result<LayoutProof> {
    let mut proof = LayoutProof { schemas: Vec::new(), cross_correlation: None, proven_at_us: clock::now_us() };
    let mut neighbour: Option<T> = None;
    for number in 1..=schemas {
        stop.refuse("the proof was stopped")?;
        let (proven, order) = schema(number)?;
        proof.schemas.push(proven);
        if let Some(before) = &neighbour
            && let Some(shared) = pair(before, &order)?
        {
            let worst = proof.cross_correlation.map_or(shared.abs(), |worst| worst.max(shared.abs()));
            proof.cross_correlation = Some(worst);
        }
        neighbour = Some(order);
    }
    Ok(proof)
}

/// The error of a table with contents that the load did not write.
pub fn unfit(table: &str, what: &str) -> Error {
    Error::run(format!("{table} {what}"), "remove it with `mindful cleanup` and load again")
}

/// Where the rows of a schema are: for each key from 1 the rank, from 0, of its row's place.
#[derive(Debug, PartialEq)]
pub struct RowOrder {
    ranks: Vec<u64>,
    distinct_blocks: u64,
}

impl RowOrder {
    /// `places` by key; the rows are in `distinct_blocks` blocks. Of equal places the first has the lower rank.
    pub fn new<T: Ord>(places: &[T], distinct_blocks: u64) -> Self {
        Self { ranks: ranks(places), distinct_blocks }
    }

    pub fn proof(&self, schema: u32) -> SchemaProof {
        let by_key: Vec<u64> = (0..self.ranks.len() as u64).collect();
        SchemaProof {
            schema,
            rows: self.ranks.len() as u64,
            distinct_blocks: self.distinct_blocks,
            rank_correlation: spearman(&by_key, &self.ranks),
            sample: None,
        }
    }

    /// The correlation of the orders of two schemas; `None` if their lengths differ.
    pub fn correlation_with(&self, other: &Self) -> Option<f64> {
        (self.ranks.len() == other.ranks.len()).then(|| spearman(&self.ranks, &other.ranks))
    }
}

/// The rank, from 0, of each value; equal values in order of appearance.
pub fn ranks<T: Ord>(values: &[T]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|index| &values[*index]);
    let mut ranks = vec![0; values.len()];
    for (rank, index) in order.into_iter().enumerate() {
        ranks[index] = rank as u64;
    }
    ranks
}

/// Spearman's rank correlation of two series of ranks: `1 - 6 sum d^2 / (n (n^2 - 1))`; 0 for fewer than two.
fn spearman(one: &[u64], other: &[u64]) -> f64 {
    let n = one.len() as f64;
    if one.len() < 2 {
        return 0.0;
    }
    let squares: f64 = one.iter().zip(other).map(|(a, b)| (*a as f64 - *b as f64).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_along_the_key_correlates_fully_and_reversed_inversely() {
        let (up, down) = (RowOrder::new(&[10, 20, 30, 40], 4), RowOrder::new(&[40, 30, 20, 10], 4));
        assert!((up.proof(1).rank_correlation - 1.0).abs() < 1e-12);
        assert!((up.correlation_with(&down).unwrap() + 1.0).abs() < 1e-12);
        assert_eq!(up.correlation_with(&RowOrder::new(&[1, 2], 2)), None);
    }

    #[test]
    fn the_worst_pair_of_neighbours_counts() {
        let orders = [[1, 2, 3, 4], [1, 3, 2, 4], [2, 1, 3, 4]];
        let schema = |number: u32| {
            let order = RowOrder::new(&orders[number as usize - 1], 4);
            Ok((order.proof(number), order))
        };
        let proof = collect(3, &StopFlag::default(), schema, |one, other| Ok(one.correlation_with(other))).unwrap();
        assert_eq!(proof.schemas.len(), 3);
        assert!((proof.cross_correlation.unwrap() - 0.8).abs() < 1e-12, "{proof:?}");
    }
}
