//! By the mark that begins a record.

/// Whether a record begins in `head`.
pub fn recognises(head: &str) -> bool {
    head.lines().any(|line| line.trim() == "<begin record>") && head.contains("latencyunit")
}
