//! The differences of two sides: data that a page and a picture are made of.

use mindful_analyze::compare::Interval;

use crate::figure;

#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub name: String,
    /// Of the baseline, with its unit; empty where only the ratio is known.
    pub baseline: String,
    pub candidate: String,
    /// Candidate by baseline.
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub remark: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Names of baseline and candidate.
    pub names: [String; 2],
    /// The result in sentences, the verdict first.
    pub sentences: Vec<String>,
    /// Differences up to this share do not matter.
    pub margin: f64,
    pub rows: Vec<Difference>,
}

/// A ratio as a change: `+30 %`, `-4.2 %`, `+0.31 %`.
pub(crate) fn change(ratio: f64) -> String {
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

/// The interval of a ratio: `95 % interval +13 % to +56 %`.
pub(crate) fn interval_words(interval: Option<Interval>) -> String {
    let in_words =
        |i: Interval| format!("{:.0} % interval {} to {}", i.confidence * 100.0, change(i.low), change(i.high));
    interval.map_or_else(|| "no interval".to_owned(), in_words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_shown_as_a_change_with_three_digits() {
        assert_eq!([1.304, 0.958, 1.0031, 0.5, 1.0].map(change), ["+30 %", "-4.2 %", "+0.31 %", "-50 %", "+0.00 %"]);
        assert_eq!(change(f64::INFINITY), "-");
        assert_eq!(interval_words(None), "no interval");
    }
}
