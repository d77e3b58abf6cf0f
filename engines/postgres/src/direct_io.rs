//! What `debug_io_direct` says: a list of `data`, `wal` and `wal_init`, empty for none.

/// Whether `kinds` take reads and writes of tables and indexes past the page cache.
pub fn of_data(kinds: &str) -> bool {
    kinds.split(',').any(|kind| kind.trim().eq_ignore_ascii_case("data"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_direct_wherever_it_stands_in_the_list() {
        assert!(["data", "wal, data", "DATA,wal"].into_iter().all(of_data));
        assert!(!["", "wal", "wal,wal_init"].into_iter().any(of_data));
    }
}
