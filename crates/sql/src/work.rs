//! The work of a session: the commits of its updates, its think time, and its warm-up.

use std::ops::Range;

use mindful_core::workload::Commit;

/// Operations before the first slice, so that the server plans the statements. Their numbers are beyond those of any run,
/// so they draw other keys and do not count.
pub const WARM_UP_OPS: Range<u64> = 1 << 40..(1 << 40) + 3;

/// An end that is never reached, us since the epoch.
pub const NEVER_US: i64 = 4_000_000_000_000_000;

/// A think time in progress. It lasts until the next operation can begin, and may outlast its slice: the next one reports
/// the part after the boundary.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// Reported up to this instant, us since the epoch; 0 for no pause, as is the other.
    pub since_us: i64,
    /// No operation begins before this instant.
    pub until_us: i64,
}

/// The commits of a session's updates: each separately, a number of them together, or all of a slice together. No
/// transaction stays open over a boundary, so the counters of a window belong to its own updates.
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
