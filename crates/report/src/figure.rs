//! Figures as text: grouped in thousands, with the digits that matter, with their units.

pub(crate) use mindful_core::plan::units::format_rounded;
pub use mindful_core::plan::units::{format_counted, format_whole};

pub(crate) const UNKNOWN: &str = "-";

/// Three digits that matter, all before the point: `64,211`, `98.4`, `7.93`, `0.042`.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return UNKNOWN.to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        _ if size >= 99.95 || size == 0.0 => {
            return format!("{}{}", if value < 0.0 { "-" } else { "" }, format_whole(size.round() as u64));
        }
        _ if size >= 9.995 => 1,
        _ if size >= 0.0995 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// An amount of money: the same, and three digits of a small one: `0.00525`.
pub(crate) fn amount(value: f64) -> String {
    let size = value.abs();
    if !(1e-9..0.0995).contains(&size) {
        return number(value);
    }
    let decimals = (2.0 - size.log10().floor()) as usize;
    format!("{value:.decimals$}")
}

pub(crate) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), number)
}

/// The least and the greatest of the known values.
pub(crate) fn ends(values: impl IntoIterator<Item = f64>) -> Option<[f64; 2]> {
    let known = values.into_iter().filter(|value| value.is_finite());
    known.fold(None, |ends, value| {
        Some(ends.map_or([value; 2], |[low, high]: [f64; 2]| [low.min(value), high.max(value)]))
    })
}

/// The range of the known values, such as `1.00 to 2.00`; `None` if nothing is known.
pub(crate) fn range(values: impl IntoIterator<Item = Option<f64>>, form: impl Fn(f64) -> String) -> Option<String> {
    let [low, high] = ends(values.into_iter().flatten())?.map(form);
    Some(if low == high { low } else { format!("{low} to {high}") })
}

/// The same without decimals.
pub(crate) fn whole(value: Option<f64>) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), format_rounded)
}

pub(crate) fn count(count: Option<u32>) -> String {
    count.map_or_else(|| UNKNOWN.to_owned(), |count| count.to_string())
}

/// `1 session`, `8 sessions`, `sessions not known`.
pub(crate) fn sessions(count: Option<u32>) -> String {
    match count {
        Some(count) => format_counted(count, "session"),
        None => "sessions not known".to_owned(),
    }
}

/// A share of 0 to 1 as percent with its sign.
pub(crate) fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), mindful_analyze::judgement::headline::percent)
}

/// Bytes per second as MiB/s, without the unit.
pub(crate) fn mib(bytes_per_s: Option<f64>) -> String {
    maybe(bytes_per_s.map(|bytes| bytes / f64::from(1 << 20)))
}

/// Microseconds with a fitting unit, for prose: `98.4 us`, `7.93 ms`, `1.20 s`.
pub(crate) fn time_us(us: f64) -> String {
    match us {
        _ if us < 1_000.0 => format!("{} us", number(us)),
        _ if us < 1e6 => format!("{} ms", number(us / 1e3)),
        _ => format!("{} s", number(us / 1e6)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_the_digits_that_matter() {
        let reported: Vec<_> = [0.0, 0.0421, 7.934, 98.44, 99.97, 64_211.4, 1e9].into_iter().map(number).collect();
        assert_eq!(reported, ["0", "0.042", "7.93", "98.4", "100", "64,211", "1,000,000,000"]);
        assert_eq!(time_us(1_200_000.0), "1.20 s");
        assert_eq!(maybe(None), UNKNOWN);
        assert_eq!([0.0, 0.005_249, 0.0421, 74.13, 1_460.0].map(amount), ["0", "0.00525", "0.0421", "74.1", "1,460"]);
    }
}
