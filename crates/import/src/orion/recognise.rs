//! By the head of a summary, or of a matrix.

/// Whether `head` begins a summary or a matrix.
pub fn recognises(head: &str) -> bool {
    is_matrix(head) || (head.contains("ORION VERSION") && head.contains("Command line:"))
}

/// Whether the first line is that of a matrix.
pub fn is_matrix(head: &str) -> bool {
    head.trim_start().starts_with("Large/Small")
}
