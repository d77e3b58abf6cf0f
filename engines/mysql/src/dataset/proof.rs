//! The proof of the layout: what stands where, against what the method asks for.

use mindful_core::dataset::SchemaProof;

use crate::dataset::ibd::Tablespace;

/// The physical order of a schema's rows.
#[derive(Debug, PartialEq)]
pub struct Order {
    /// For each key from 1, the rank of the place that holds its row.
    ranks: Vec<u64>,
    distinct_pages: u64,
}

impl Order {
    /// The order in a tablespace that was read; what is wrong with it where it does not hold the keys 1 to `blocks`.
    pub fn of(found: &Tablespace, blocks: u64) -> Result<Self, String> {
        let mut keyed: Vec<(u64, u64, u64)> = found.rows.iter().map(|row| (row.key, row.page, row.id)).collect();
        keyed.sort_unstable();
        if keyed.len() as u64 != blocks || !keyed.iter().zip(1..).all(|((key, ..), expected)| *key == expected) {
            return Err(format!("holds {} visited rows, not the keys 1 to {blocks} once each", keyed.len()));
        }
        let mut pages: Vec<u64> = found.rows.iter().map(|row| row.page).collect();
        pages.dedup();
        let places: Vec<(u64, u64)> = keyed.iter().map(|(_, page, id)| (*page, *id)).collect();
        Ok(Self { ranks: ranks(&places), distinct_pages: pages.len() as u64 })
    }

    /// The order of rows of which the place is known, by key: a page or, as the pages follow it, a primary key. They stand
    /// in `pages` pages.
    pub fn of_places(places: &[u64], pages: u64) -> Self {
        Self { ranks: ranks(places), distinct_pages: pages }
    }

    /// What it proves of `schema`.
    pub fn proof(&self, schema: u32) -> SchemaProof {
        let by_key: Vec<u64> = (0..self.ranks.len() as u64).collect();
        SchemaProof {
            schema,
            rows: self.ranks.len() as u64,
            distinct_blocks: self.distinct_pages,
            rank_correlation: spearman(&by_key, &self.ranks),
            sample: None,
        }
    }

    /// By how much two schemas share their order; `None` where they are not of one length.
    pub fn shared_with(&self, other: &Self) -> Option<f64> {
        (self.ranks.len() == other.ranks.len()).then(|| spearman(&self.ranks, &other.ranks).abs())
    }
}

/// The rank, from 0, of each value.
fn ranks<T: Ord + Copy>(values: &[T]) -> Vec<u64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by_key(|index| values[*index]);
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
    use crate::dataset::ibd::Stored;

    fn stored(rows: &[(u64, u64, u64)]) -> Tablespace {
        let rows = rows.iter().map(|(page, key, id)| Stored { page: *page, key: *key, id: *id }).collect();
        Tablespace { rows, ballast: 0 }
    }

    #[test]
    fn two_rows_in_a_page_are_reported() {
        let order = Order::of(&stored(&[(5, 2, 0), (5, 1, 2), (6, 3, 4)]), 3).expect("all keys");
        let proof = order.proof(1);
        assert_eq!((proof.rows, proof.distinct_blocks), (3, 2));
    }

    #[test]
    fn a_key_twice_or_missing_is_reported() {
        for rows in [[(5, 1, 0), (6, 1, 2)], [(5, 1, 0), (6, 3, 2)]] {
            assert!(Order::of(&stored(&rows), 2).expect_err("not the keys").contains("1 to 2"));
        }
        assert!(Order::of(&stored(&[(5, 1, 0)]), 2).is_err());
    }

    #[test]
    fn an_order_along_the_key_correlates_with_it_and_with_itself() {
        let order = Order::of_places(&[0, 2, 4, 6], 4);
        assert!((order.proof(1).rank_correlation - 1.0).abs() < 1e-12);
        assert_eq!(order.shared_with(&order), Some(1.0));
        assert_eq!(order.shared_with(&Order::of_places(&[0, 2], 2)), None);
    }
}
