//! By the names that fio's JSON begins with.

/// Whether `head` begins what fio prints as JSON. Notes of fio may stand before it.
pub fn recognises(head: &str) -> bool {
    let Some(at) = head.find('{') else { return false };
    let early =
        head[..at].lines().all(|line| line.trim().is_empty() || line.starts_with("fio:") || line.starts_with("note:"));
    early
        && (head[at..].contains("\"fio version\"")
            || (head[at..].contains("\"jobs\"") && head[at..].contains("\"jobname\"")))
}
