//! When a step that runs until it is steady is checked, and which check ends it.

use super::Assessment;

/// Seconds before the first look: fewer are never enough.
const FIRST_S: usize = 60;

const EVERY_S: usize = 10;

#[derive(Debug, Clone, Copy, Default)]
pub struct Looks {
    last_s: usize,
    agreed: bool,
}

impl Looks {
    /// Whether to judge a step now, after `seen_s` seconds of it.
    pub fn due(&self, seen_s: usize) -> bool {
        seen_s >= FIRST_S && seen_s >= self.last_s + EVERY_S
    }

    /// Takes the result of a check after so many seconds; true if it ends the step. Among many checks one passes by
    /// chance, so two checks in a row must find the whole window steady and precise.
    pub fn push(&mut self, seen_s: usize, found: &Assessment) -> bool {
        let agrees = found.steady && found.precise;
        let ends = agrees && self.agreed;
        (self.last_s, self.agreed) = (seen_s, agrees);
        ends
    }
}
