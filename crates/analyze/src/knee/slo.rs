//! The load up to which a latency objective is met.

use super::load::LoadPoint;
use crate::stats::moment::median;

/// Most sessions that meet an objective, interpolated on logarithms between the last load that meets it and the first
/// that does not; repeated loads count with their median. `None` if even the smallest load misses it, or no percentile
/// is known.
pub(crate) fn slo_sessions(points: &[LoadPoint], target_us: f64) -> Option<f64> {
    let mut known: Vec<(u32, f64)> = points.iter().filter_map(|p| Some((p.sessions, p.p99_us?))).collect();
    known.retain(|(_, p99)| *p99 > 0.0);
    known.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let loads: Vec<(u32, f64)> = known
        .chunk_by(|a, b| a.0 == b.0)
        .filter_map(|same| Some((same[0].0, median(&same.iter().map(|p| p.1).collect::<Vec<f64>>())?)))
        .collect();
    let Some(miss) = loads.iter().position(|(_, p99)| *p99 > target_us) else {
        return loads.last().map(|(n, _)| f64::from(*n));
    };
    let ((met_n, met), (miss_n, missed)) = (*loads.get(miss.checked_sub(1)?)?, loads[miss]);
    let share = (target_us / met).ln() / (missed / met).ln();
    Some(f64::from(met_n) * (f64::from(miss_n) / f64::from(met_n)).powf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(p99: &[(u32, f64)]) -> Vec<LoadPoint> {
        let point = |(n, p): &(u32, f64)| LoadPoint { sessions: *n, throughput: 1.0, error: None, p99_us: Some(*p) };
        p99.iter().map(point).collect()
    }

    #[test]
    fn the_objective_is_met_up_to_a_load_between_two_steps() {
        let ladder = points(&[(1, 100.0), (8, 400.0), (2, 120.0), (4, 200.0)]);
        let reported = slo_sessions(&ladder, 283.0).unwrap();
        assert!((reported - 5.66).abs() < 0.02, "{reported}");
        assert_eq!((slo_sessions(&ladder, 50.0), slo_sessions(&ladder, 1e3)), (None, Some(8.0)));
    }
}
