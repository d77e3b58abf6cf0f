//! Changes of a mean: E-Divisive with means (Matteson and James 2014).

use super::moment::mean;

/// A change of the mean between two stretches of a series.
pub(crate) struct Split {
    /// The first point after it.
    pub at: usize,
    /// Mean of the stretch before.
    pub before: f64,
    pub after: f64,
    pub p: f64,
}

/// The changes of `series` in order, at least `shortest` points apart. The best split is kept if `p_of` its two sides and
/// its separation is known; then both sides are searched in the same way.
pub(crate) fn splits(
    series: &[f64],
    shortest: usize,
    mut p_of: impl FnMut(&[f64], &[f64], f64) -> Option<f64>,
) -> Vec<Split> {
    let (mut open, mut found) = (vec![(0, series)], Vec::new());
    while let Some((first, part)) = open.pop() {
        let Some((at, separation)) = best_split(part, shortest) else { continue };
        let (before, after) = part.split_at(at);
        if let Some(p) = p_of(before, after, separation) {
            found.push((first + at, p));
            open.extend([(first + at, after), (first, before)]);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let boundaries: Vec<usize> = [0].into_iter().chain(found.iter().map(|(at, _)| *at)).chain([series.len()]).collect();
    let level = |i: usize| mean(&series[boundaries[i]..boundaries[i + 1]]).unwrap_or(0.0);
    let split = |(i, (at, p))| Split { at, before: level(i), after: level(i + 1), p };
    found.into_iter().enumerate().map(split).collect()
}

/// The split with the largest `n1 n2 / n (mean1 - mean2)^2`, and that figure.
pub(crate) fn best_split(series: &[f64], shortest: usize) -> Option<(usize, f64)> {
    let n = series.len();
    if n < 2 * shortest {
        return None;
    }
    let all: f64 = series.iter().sum();
    let mut sum: f64 = series[..shortest - 1].iter().sum();
    let mut best = (shortest, f64::NEG_INFINITY);
    for at in shortest..=n - shortest {
        sum += series[at - 1];
        let (one, two) = (at as f64, (n - at) as f64);
        let separation = one * two / n as f64 * (sum / one - (all - sum) / two).powi(2);
        if separation > best.1 {
            best = (at, separation);
        }
    }
    Some(best)
}
