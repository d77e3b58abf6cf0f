//! The noise floor of a platform.

use mindful_analyze::compare::NoiseFloor;

use crate::figure;

/// The claim of the SLOB Method for runs of one plan: 1 to 2 %, 3 % at worst.
const CLAIM: f64 = 0.02;
const CLAIM_AT_WORST: f64 = 0.03;

/// Variation between runs of one plan; `values` are blocks per second, one a run.
pub fn noise_text(floor: &NoiseFloor, values: &[f64]) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let verdict = if floor.variation <= CLAIM && floor.worst <= CLAIM_AT_WORST {
        "within the method's claim of 1 to 2 %, 3 % at worst"
    } else {
        "beyond the method's claim of 1 to 2 %, 3 % at worst: a comparison here needs more runs"
    };
    let figures: Vec<_> = values.iter().map(|value| figure::format_whole(value.round() as u64)).collect();
    format!(
        "run-to-run noise: {} (standard deviation; 95 % interval {} to {}); the farthest run is {} from the median\n\
         this platform is {verdict}\nblocks/s of each run: {}\n",
        percent(floor.variation),
        percent(floor.interval.low),
        percent(floor.interval.high),
        percent(floor.worst),
        figures.join("  ")
    )
}
