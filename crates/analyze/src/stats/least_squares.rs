//! Nonlinear least squares within bounds: Levenberg-Marquardt with projected steps.

/// Limit of steps of a fit.
const MOST_STEPS: usize = 200;

/// A parameter's allowed range.
pub(crate) type Bounds = (f64, f64);

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Minimum {
    pub parameters: Vec<f64>,
    pub squares: f64,
}

/// The parameters within `bounds` that minimise the sum of squares of `residuals`, from `start`.
///
/// Levenberg (1944) and Marquardt (1963) with Marquardt's scaling. A parameter that would leave its bound is fixed for
/// that step. Derivatives are forward differences. Residuals that are not finite make a step invalid.
pub(crate) fn minimise(residuals: &dyn Fn(&[f64]) -> Vec<f64>, start: &[f64], bounds: &[Bounds]) -> Minimum {
    let mut at: Vec<f64> = start.iter().zip(bounds).map(|(p, (low, high))| p.clamp(*low, *high)).collect();
    let mut here = residuals(&at);
    let mut squares = sum_of_squares(&here);
    let mut damping = 1e-3;
    let mut idle = 0;
    for _ in 0..MOST_STEPS {
        let slopes = slopes(residuals, &at, &here, bounds);
        let gradient: Vec<f64> = slopes.iter().map(|s| dot(s, &here)).collect();
        let free: Vec<usize> = (0..at.len()).filter(|i| is_free(at[*i], gradient[*i], bounds[*i])).collect();
        let Some(step) = damped_step(&slopes, &gradient, &free, damping) else { break };
        let mut next = at.clone();
        for (i, change) in free.iter().zip(step) {
            next[*i] = (at[*i] + change).clamp(bounds[*i].0, bounds[*i].1);
        }
        let there = residuals(&next);
        let reached = sum_of_squares(&there);
        if reached < squares {
            idle = if squares - reached <= 1e-12 * squares { idle + 1 } else { 0 };
            (at, here, squares) = (next, there, reached);
            damping = (damping / 5.0).max(1e-12);
        } else {
            damping *= 4.0;
        }
        if idle >= 3 || damping > 1e12 || squares <= f64::MIN_POSITIVE {
            break;
        }
    }
    Minimum { parameters: at, squares }
}

fn sum_of_squares(residuals: &[f64]) -> f64 {
    let sum = dot(residuals, residuals);
    if sum.is_finite() { sum } else { f64::INFINITY }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Whether a parameter may move the way the squares fall.
fn is_free(value: f64, gradient: f64, (low, high): Bounds) -> bool {
    !(value <= low && gradient > 0.0 || value >= high && gradient < 0.0)
}

/// One column of derivatives a parameter.
fn slopes(f: &dyn Fn(&[f64]) -> Vec<f64>, at: &[f64], here: &[f64], bounds: &[Bounds]) -> Vec<Vec<f64>> {
    (0..at.len())
        .map(|i| {
            let mut beside = at.to_vec();
            let width = (at[i].abs() * 1e-7).max(1e-10);
            beside[i] += if at[i] + width > bounds[i].1 { -width } else { width };
            let change = beside[i] - at[i];
            f(&beside).iter().zip(here).map(|(there, here)| (there - here) / change).collect()
        })
        .collect()
}

/// Solves (J'J + damping diag J'J) step = -J'r over the free parameters by Gauss elimination with pivots.
fn damped_step(slopes: &[Vec<f64>], gradient: &[f64], free: &[usize], damping: f64) -> Option<Vec<f64>> {
    let n = free.len();
    if n == 0 {
        return None;
    }
    let mut rows: Vec<Vec<f64>> = free
        .iter()
        .map(|i| free.iter().map(|j| dot(&slopes[*i], &slopes[*j])).chain([-gradient[*i]]).collect())
        .collect();
    for (i, row) in rows.iter_mut().enumerate() {
        row[i] = row[i] * (1.0 + damping) + f64::MIN_POSITIVE;
    }
    for column in 0..n {
        let pivot = (column..n).max_by(|a, b| rows[*a][column].abs().total_cmp(&rows[*b][column].abs()))?;
        rows.swap(column, pivot);
        let pivot_row = rows[column].clone();
        for row in &mut rows[column + 1..] {
            let share = row[column] / pivot_row[column];
            for (value, above) in row[column..].iter_mut().zip(&pivot_row[column..]) {
                *value -= share * above;
            }
        }
    }
    let mut step = vec![0.0; n];
    for i in (0..n).rev() {
        let known = dot(&rows[i][i + 1..n], &step[i + 1..]);
        step[i] = (rows[i][n] - known) / rows[i][i];
    }
    step.iter().all(|s| s.is_finite()).then_some(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valley_is_walked_to_its_end() {
        // Rosenbrock's valley as residuals: 10 (y - x^2) and 1 - x.
        let valley = |p: &[f64]| vec![10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]];
        let found = minimise(&valley, &[-1.2, 1.0], &[(-5.0, 5.0), (-5.0, 5.0)]);
        assert!((found.parameters[0] - 1.0).abs() < 1e-4 && (found.parameters[1] - 1.0).abs() < 1e-4, "{found:?}");
    }

    #[test]
    fn a_bound_is_held_and_the_rest_still_fits() {
        // The best slope is -1: held at 0, the best level is the mean.
        let line = |p: &[f64]| (0..5).map(|x| p[0] + p[1] * f64::from(x) - (4.0 - f64::from(x))).collect();
        let found = minimise(&line, &[1.0, 1.0], &[(-10.0, 10.0), (0.0, 10.0)]);
        assert!((found.parameters[0] - 2.0).abs() < 1e-6 && found.parameters[1] == 0.0, "{found:?}");
    }
}
