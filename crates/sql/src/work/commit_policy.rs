//! The commits of a session's updates: each separately, a number of them together, or all of a slice together. No
//! transaction stays open over a boundary, so the counters of a window belong to its own updates.

use mindful_core::workload::Commit;

#[derive(Debug)]
pub struct CommitPolicy {
    mode: Commit,
    open: u32,
}

impl CommitPolicy {
    pub fn new(mode: Commit) -> Self {
        Self { mode, open: 0 }
    }

    /// Whether the server commits each update automatically.
    pub fn is_autocommit(&self) -> bool {
        self.mode == Commit::Each
    }

    /// Whether the next update has to open a transaction.
    pub fn begins(&self) -> bool {
        !self.is_autocommit() && self.open == 0
    }

    /// Counts an update; returns whether the transaction ends with it.
    pub fn count_update(&mut self) -> bool {
        self.open += 1;
        match self.mode {
            Commit::Each => true,
            Commit::Every(updates) => self.open >= updates,
            Commit::Slice => false,
        }
    }

    /// Ends the transaction; returns whether there was one.
    pub fn end(&mut self) -> bool {
        std::mem::take(&mut self.open) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Statements of seven updates and the end of their slice: B begins, C commits.
    fn written(mode: Commit) -> String {
        let (mut policy, mut text) = (CommitPolicy::new(mode), String::new());
        for _ in 0..7 {
            text.push_str(if policy.begins() { "Bu" } else { "u" });
            if policy.count_update() {
                assert!(policy.end());
                text.push('C');
            }
        }
        text + if policy.end() { "|C" } else { "|" }
    }

    #[test]
    fn transactions_are_as_long_as_asked_for_and_end_with_the_slice() {
        assert_eq!(written(Commit::Each), "uCuCuCuCuCuCuC|");
        assert_eq!(written(Commit::Every(3)), "BuuuCBuuuCBu|C");
        assert_eq!(written(Commit::Slice), "Buuuuuuu|C");
    }
}
