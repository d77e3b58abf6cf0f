//! The order of rows as the pages of a tablespace have it.

use mindful_sql::dataset::proof::RowOrder;

use crate::dataset::ibd::Tablespace;

/// The row order in a tablespace; an error if it does not contain exactly the keys 1 to `blocks`.
pub(crate) fn row_order(found: &Tablespace, blocks: u64) -> Result<RowOrder, String> {
    let mut keyed: Vec<(u64, u64, u64)> = found.rows.iter().map(|row| (row.key, row.page, row.id)).collect();
    keyed.sort_unstable();
    if keyed.len() as u64 != blocks || !keyed.iter().zip(1..).all(|((key, ..), expected)| *key == expected) {
        return Err(format!("holds {} visited rows, not the keys 1 to {blocks} once each", keyed.len()));
    }
    let mut pages: Vec<u64> = found.rows.iter().map(|row| row.page).collect();
    pages.dedup();
    let places: Vec<(u64, u64)> = keyed.iter().map(|(_, page, id)| (*page, *id)).collect();
    Ok(RowOrder::new(&places, pages.len() as u64))
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
        let order = row_order(&stored(&[(5, 2, 0), (5, 1, 2), (6, 3, 4)]), 3).expect("all keys");
        let proof = order.proof(1);
        assert_eq!((proof.rows, proof.distinct_blocks), (3, 2));
    }

    #[test]
    fn a_key_twice_or_missing_is_reported() {
        for rows in [[(5, 1, 0), (6, 1, 2)], [(5, 1, 0), (6, 3, 2)]] {
            assert!(row_order(&stored(&rows), 2).expect_err("not the keys").contains("1 to 2"));
        }
        assert!(row_order(&stored(&[(5, 1, 0)]), 2).is_err());
    }
}
