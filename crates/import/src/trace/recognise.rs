//! By lines that no other trace has.

/// Whether a trace begins in `head`.
pub fn recognises(head: &str) -> bool {
    head.lines().any(|line| {
        let cursor = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        let wait = line.strip_prefix("WAIT #").is_some_and(|rest| cursor(rest) && rest.contains(": nam='"));
        let parsing = line.strip_prefix("PARSING IN CURSOR #").is_some_and(cursor);
        let called = ["PARSE #", "EXEC #", "FETCH #"].iter().filter_map(|call| line.strip_prefix(call));
        wait || parsing || called.into_iter().any(|rest| cursor(rest) && rest.contains(":c="))
    })
}
