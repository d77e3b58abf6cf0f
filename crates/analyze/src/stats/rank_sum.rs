//! The exact distribution of the Mann-Whitney U statistic.

/// Above this many pairs the normal approximation is as good as the exact count, and cheaper.
const EXACT_PAIRS: usize = 2_500;

/// The distribution of U for two groups of `m` and `n` values without ties.
#[derive(Debug, Clone)]
pub(crate) struct RankSum {
    m: usize,
    n: usize,
    /// `below[u]` = P(U <= u); empty where the normal approximation serves.
    below: Vec<f64>,
}

impl RankSum {
    /// Counts the orders of `m` and `n` values by their U (recursion of Mann and Whitney 1947, as Gaussian binomials).
    pub(crate) fn new(m: usize, n: usize) -> Self {
        if m * n > EXACT_PAIRS {
            return Self { m, n, below: Vec::new() };
        }
        // The generating function is the product over i of (1 - x^(n+i)) / (1 - x^i). One factor is multiplied at a
        // time, and each result is scaled to a probability to avoid overflow: the number of orders of n and i values is
        // (n + i) / i times the one before.
        let len = m * n + 1;
        let mut ways = vec![0.0; len];
        ways[0] = 1.0;
        for i in 1..=m {
            for u in (n + i..len).rev() {
                ways[u] -= ways[u - n - i];
            }
            for u in i..len {
                ways[u] += ways[u - i];
            }
            let all = (n + i) as f64 / i as f64;
            for way in &mut ways {
                *way /= all;
            }
        }
        let mut sum = 0.0;
        let below = ways
            .iter()
            .map(|w| {
                sum += w;
                sum
            })
            .collect();
        Self { m, n, below }
    }

    /// P(U <= u) where the groups do not differ.
    pub(crate) fn at_most(&self, u: f64) -> f64 {
        let pairs = (self.m * self.n) as f64;
        if u < 0.0 {
            return 0.0;
        }
        if u >= pairs {
            return 1.0;
        }
        if let Some(exact) = self.below.get(u.floor() as usize) {
            return exact.min(1.0);
        }
        let spread = (pairs * (self.m + self.n + 1) as f64 / 12.0).sqrt();
        super::distribution::normal_below((u.floor() + 0.5 - pairs / 2.0) / spread)
    }

    /// The largest u with P(U <= u) <= `tail`; `None` if P(U = 0) exceeds it.
    pub(crate) fn critical(&self, tail: f64) -> Option<usize> {
        let pairs = self.m * self.n;
        let (mut low, mut high) = (0, pairs + 1);
        // Bisection for the first u with a probability above the tail.
        while low < high {
            let middle = usize::midpoint(low, high);
            // Rounding must not move a u with exactly the tail's probability.
            if self.at_most(middle as f64) <= tail * (1.0 + 1e-9) { low = middle + 1 } else { high = middle }
        }
        low.checked_sub(1)
    }
}

/// Pairs in which the candidate is the larger one, ties as one half: U of the candidate.
pub(crate) fn wins(baseline: &[f64], candidate: &[f64]) -> f64 {
    let wins_of =
        |b: f64| baseline.iter().map(|a| f64::from(u8::from(b > *a)) + f64::from(u8::from(b >= *a))).sum::<f64>() / 2.0;
    candidate.iter().map(|b| wins_of(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Critical values of U, two-sided 5 %, n1 = n2 = 3 to 10 by row and n2 from n1 to 10 (Mann and Whitney 1947; the
    /// usual textbook table). `None`: cannot be significant.
    const TABLE: [(usize, [Option<usize>; 8]); 8] = [
        (3, [None, None, Some(0), Some(1), Some(1), Some(2), Some(2), Some(3)]),
        (4, [None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(4), Some(5)]),
        (5, [Some(0), Some(1), Some(2), Some(3), Some(5), Some(6), Some(7), Some(8)]),
        (6, [Some(1), Some(2), Some(3), Some(5), Some(6), Some(8), Some(10), Some(11)]),
        (7, [Some(1), Some(3), Some(5), Some(6), Some(8), Some(10), Some(12), Some(14)]),
        (8, [Some(2), Some(4), Some(6), Some(8), Some(10), Some(13), Some(15), Some(17)]),
        (9, [Some(2), Some(4), Some(7), Some(10), Some(12), Some(15), Some(17), Some(20)]),
        (10, [Some(3), Some(5), Some(8), Some(11), Some(14), Some(17), Some(20), Some(23)]),
    ];

    #[test]
    fn critical_values_are_those_of_the_published_table() {
        for (m, row) in TABLE {
            for (n, expected) in (3..=10).zip(row) {
                assert_eq!(RankSum::new(m, n).critical(0.025), expected, "U for {m} and {n}");
            }
        }
    }

    #[test]
    fn the_normal_approximation_joins_the_exact_count() {
        let exact = RankSum::new(50, 50);
        let normal = RankSum { m: 50, n: 50, below: Vec::new() };
        for u in [900.0, 966.0, 1100.0, 1250.0] {
            assert!((exact.at_most(u) - normal.at_most(u)).abs() < 1e-3, "at {u}");
        }
    }
}
