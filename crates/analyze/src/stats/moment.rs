//! Means, spreads and order statistics.

pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Unbiased variance; `None` below two values.
pub fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let center = mean(values)?;
    Some(values.iter().map(|v| (v - center).powi(2)).sum::<f64>() / (values.len() - 1) as f64)
}

/// Standard deviation by mean; `None` below two values or if the mean is not above zero.
pub(crate) fn variation(values: &[f64]) -> Option<f64> {
    let center = mean(values).filter(|m| *m > 0.0)?;
    Some(variance(values)?.sqrt() / center)
}

pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The quantile `p` (0 to 1) of ascending values, linear between neighbours (type 7 of Hyndman and Fan 1996); `None`
/// without values.
pub(crate) fn quantile(rising: &[f64], p: f64) -> Option<f64> {
    let last = rising.len().checked_sub(1)?;
    let place = p.clamp(0.0, 1.0) * last as f64;
    let (low, high) = (rising[place.floor() as usize], rising[place.ceil() as usize]);
    // Equal neighbours are taken as they are: infinities and rounding stay out.
    Some(if low.total_cmp(&high).is_eq() { low } else { low + (high - low) * place.fract() })
}

pub fn median(values: &[f64]) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The median, and the largest less the smallest value by it; `None` without values.
pub(crate) fn median_and_spread(values: &[f64]) -> Option<(f64, f64)> {
    let rising = sorted(values);
    let middle = quantile(&rising, 0.5)?;
    Some((middle, (rising.last()? - rising.first()?) / middle))
}

/// Variance within `groups`, of all of them; `None` if none has two values.
pub(crate) fn pooled_variance<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let own = (group.len() - 1) as f64;
        squares += variance(group)? * own;
        freedom += own;
    }
    (freedom > 0.0).then(|| squares / freedom)
}

/// Means of successive batches of `length` values; a shorter rest at the end is left out.
pub fn batch_means(values: &[f64], length: usize) -> Vec<f64> {
    values.chunks_exact(length.max(1)).map(|batch| batch.iter().sum::<f64>() / batch.len() as f64).collect()
}

/// Slope of the least-squares line over 0, 1, 2…, per step; 0 below two values.
pub(crate) fn line_slope(values: &[f64]) -> f64 {
    slope(values.iter().enumerate().map(|(i, value)| (i as f64, *value)))
}

/// Slope of the least-squares line through `points`; 0 for fewer than two.
pub(crate) fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.clone().unzip();
    let (Some(mean_x), Some(mean_y)) = (mean(&xs), mean(&ys)) else { return 0.0 };
    let (cross, square) = points.fold((0.0, 0.0), |(cross, square), (x, y)| {
        (cross + (x - mean_x) * (y - mean_y), square + (x - mean_x).powi(2))
    });
    if square > 0.0 { cross / square } else { 0.0 }
}
