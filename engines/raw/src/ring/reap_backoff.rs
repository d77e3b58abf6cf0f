//! Decides whether to poll for more completions after one.

/// Most waits that pass without reap_backoff.
const LONGEST_REST: u32 = 63;

/// A device may complete several I/Os with one interrupt, but the kernel returns only one to a waiting thread. Polling
/// costs a call, so its pauses grow while polls find nothing.
#[derive(Debug, Default)]
pub(crate) struct ReapBackoff {
    rest: u32,
    left: u32,
}

impl ReapBackoff {
    #[inline]
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        due
    }

    #[inline]
    pub(crate) fn learn(&mut self, more: bool) {
        self.rest = if more { 0 } else { (2 * self.rest + 1).min(LONGEST_REST) };
        self.left = self.rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_ends_work_singly_is_asked_once_in_64_waits() {
        let mut reap_backoff = ReapBackoff::default();
        let asked = (0..6_400)
            .filter(|_| {
                reap_backoff.is_due() && {
                    reap_backoff.learn(false);
                    true
                }
            })
            .count();
        assert!((100..=106).contains(&asked), "{asked}");
        reap_backoff.learn(true);
        assert!(reap_backoff.is_due());
    }
}
