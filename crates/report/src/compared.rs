//! What two sides of a comparison say together: data that a page and a picture are made of. Who compares is elsewhere.

use mindful_analyze::compare::Interval;

use crate::figure;

/// One figure of both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Which figure, and at which point of a sweep.
    pub what: String,
    /// Of the baseline, with its unit; empty where only the ratio is known.
    pub baseline: String,
    /// Of the candidate.
    pub candidate: String,
    /// Candidate by baseline.
    pub ratio: f64,
    /// Where the true ratio lies; `None` where nothing tells.
    pub interval: Option<Interval>,
    /// The verdict on it, or what its interval rests on.
    pub remark: String,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Compared {
    /// What baseline and candidate are called.
    pub names: [String; 2],
    /// What is found, a line each: the verdict first.
    pub said: Vec<String>,
    /// Differences up to this do not matter, a share.
    pub margin: f64,
    /// The figures.
    pub rows: Vec<Row>,
}

impl Row {
    /// The difference in words: `+26 %`.
    pub(crate) fn change(&self) -> String {
        change(self.ratio)
    }

    /// Its interval in words: `95 % interval +13 % to +56 %`.
    pub(crate) fn between(&self) -> String {
        between(self.interval)
    }
}

/// A ratio as what it adds or takes away: `+30 %`, `-4.2 %`, `+0.31 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if !percent.is_finite() {
        return figure::UNKNOWN.to_owned();
    }
    let decimals = match percent.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        _ => 2,
    };
    format!("{percent:+.decimals$} %")
}

/// Where a ratio lies, as [`change`] tells it: `95 % interval +13 % to +56 %`, or that nothing tells.
pub fn between(interval: Option<Interval>) -> String {
    let in_words =
        |i: Interval| format!("{:.0} % interval {} to {}", i.confidence * 100.0, change(i.low), change(i.high));
    interval.map_or_else(|| "no interval".to_owned(), in_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_what_it_adds_with_the_digits_that_matter() {
        assert_eq!([1.304, 0.958, 1.0031, 0.5, 1.0].map(change), ["+30 %", "-4.2 %", "+0.31 %", "-50 %", "+0.00 %"]);
        assert_eq!(change(f64::INFINITY), "-");
        assert_eq!(between(None), "no interval");
    }
}
