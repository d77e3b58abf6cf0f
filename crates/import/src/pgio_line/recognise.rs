//! By the words of the line.

/// Whether the line is in `head`.
pub fn recognises(head: &str) -> bool {
    head.lines().any(|line| line.contains("RIOPS >") && line.contains("Run time:"))
}
