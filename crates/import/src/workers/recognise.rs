//! By the names of the columns.

/// Whether `head` begins such a table.
pub fn recognises(head: &str) -> bool {
    head.lines()
        .next()
        .is_some_and(|line| line.trim().eq_ignore_ascii_case("Num_concurrent_workers,Oracle_Logical_IOPS"))
}
