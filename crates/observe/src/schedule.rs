//! When to read: the boundaries of slices and the moments that follow from them.

/// Delay after the last boundary for its settled sources, us: sessions publish within a few ms of it.
pub(crate) const LAST_SETTLE_US: i64 = 300_000;

/// The boundaries of slices, us since the epoch on the engine's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Boundaries {
    /// All are known beforehand: a window of fixed length.
    Fixed(Vec<i64>),
    /// They continue until the observer is told to finish: a fixed amount of work.
    Every {
        /// Boundary 0.
        start_us: i64,
        period_us: i64,
    },
}

impl Boundaries {
    /// Boundary `k`; `None` past the last.
    pub fn at(&self, boundary: u32) -> Option<i64> {
        match self {
            Self::Fixed(all) => all.get(boundary as usize).copied(),
            Self::Every { start_us, period_us } => Some(start_us + i64::from(boundary) * (*period_us).max(1)),
        }
    }

    /// Whether only the end of the work ends them.
    pub(crate) fn endless(&self) -> bool {
        matches!(self, Self::Every { .. })
    }

    /// When the settled sources of boundary `k` are read: half a slice later, or shortly after the last boundary.
    pub(crate) fn settled_at(&self, boundary: u32, last: bool) -> Option<i64> {
        let at = self.at(boundary)?;
        match self.at(boundary + 1) {
            Some(next) if !last => Some(at + (next - at) / 2),
            _ => Some(at + LAST_SETTLE_US),
        }
    }

    /// The first boundary at or after `instant_us`, or else the last there is.
    pub(crate) fn closing(&self, instant_us: i64) -> Option<i64> {
        match self {
            Self::Fixed(all) => all.iter().find(|boundary| **boundary >= instant_us).or(all.last()).copied(),
            Self::Every { start_us, period_us } => {
                let period = (*period_us).max(1);
                let slices = (instant_us - start_us).max(0);
                Some(start_us + (slices + period - 1) / period * period)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_sources_are_read_in_the_middle_of_the_next_slice() {
        let boundaries = Boundaries::Fixed(vec![1_000_000, 2_000_000, 2_500_000]);
        assert_eq!(boundaries.settled_at(0, false), Some(1_500_000));
        assert_eq!(boundaries.settled_at(1, false), Some(2_250_000));
        assert_eq!(boundaries.settled_at(2, true), Some(2_800_000));
        assert_eq!(boundaries.settled_at(3, true), None);
    }

    #[test]
    fn an_endless_list_closes_at_the_first_boundary_after_the_work() {
        let boundaries = Boundaries::Every { start_us: 100, period_us: 10 };
        assert_eq!(boundaries.at(3), Some(130));
        assert_eq!(boundaries.closing(131), Some(140));
        assert_eq!(boundaries.closing(130), Some(130));
        assert_eq!(boundaries.closing(5), Some(100));
        let fixed = Boundaries::Fixed(vec![100, 110, 120]);
        assert_eq!([101, 110, 121].map(|instant| fixed.closing(instant)), [Some(110), Some(110), Some(120)]);
    }
}
