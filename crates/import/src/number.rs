//! Figures as reports print them: thousands separators, exponents, K/M/G and us/ms/s suffixes.

/// Accepted difference of two statements of one figure beyond their digits, a share: they are not from exactly the same
/// instant.
pub(crate) const APART: f64 = 0.02;
/// Accepted difference between different clocks, or clocks and counters, a share.
pub(crate) const CLOCKS_APART: f64 = 0.1;

/// Marks that group digits, besides commas and points: apostrophes, and spaces that do not break.
pub(crate) const GROUPING: [char; 5] = ['\'', '\u{2019}', '\u{a0}', '\u{202f}', '\u{2009}'];

/// `text` with apostrophes for all other marks that group digits; `None` without such a mark.
pub(crate) fn with_apostrophes(text: &str) -> Option<String> {
    if !text.contains(&GROUPING[1..]) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let before = plain.ends_with(|c: char| c.is_ascii_digit());
        let groups = before && GROUPING.contains(&c) && chars.peek().is_some_and(char::is_ascii_digit);
        plain.push(if groups { GROUPING[0] } else { c });
    }
    Some(plain)
}

/// A figure with the precision of its last printed digit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Printed {
    pub value: f64,
    /// Half a step of the last digit: the largest error of the printed figure.
    pub half_step: f64,
}

impl Printed {
    pub(crate) const fn exact(value: f64) -> Self {
        Self { value, half_step: 0.0 }
    }

    /// Converts the figure to a smaller unit: one old unit is `factor` new ones.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self { value: self.value * factor, half_step: self.half_step * factor.abs() }
    }

    /// The exact count, unless it has a suffix.
    pub(crate) fn counted(self) -> Self {
        if self.half_step <= 0.5 { Self::exact(self.value) } else { self }
    }

    pub(crate) fn times(self, other: Self) -> Self {
        let half_step = self.half_step * other.value.abs() + other.half_step * self.value.abs();
        Self { value: self.value * other.value, half_step }
    }

    /// The quotient; `None` for a divisor not above 0.
    pub(crate) fn over(self, other: Self) -> Option<Self> {
        let half_step = self.half_step / other.value + other.half_step * self.value.abs() / (other.value * other.value);
        (other.value > 0.0).then(|| Self { value: self.value / other.value, half_step })
    }

    /// Whether two statements of one figure differ by more than their digits and the share `apart` allow.
    pub(crate) fn differs(self, other: Self, apart: f64) -> bool {
        let slack = self.half_step + other.half_step + apart * self.value.abs().max(other.value.abs());
        (self.value - other.value).abs() > slack
    }

    /// Two statements of one figure, if both are known and [differ](Self::differs).
    pub(crate) fn contradiction(a: Option<Self>, b: Option<Self>, apart: f64) -> Option<(f64, f64)> {
        a.zip(b).filter(|(a, b)| a.differs(*b, apart)).map(|(a, b)| (a.value, b.value))
    }

    /// Whether a part is more than its whole by more than their digits and the share `apart` allow.
    pub(crate) fn exceeds(self, whole: Self, apart: f64) -> bool {
        self.value - whole.value > self.half_step + whole.half_step + apart * whole.value.abs()
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self { value: self.value + other.value, half_step: self.half_step + other.half_step }
    }

    /// Of two statements of one figure the one with more digits where they agree, else the first.
    pub(crate) fn agreed(a: Option<Self>, b: Option<Self>, apart: f64) -> Option<Self> {
        let differ = a.zip(b).is_some_and(|(a, b)| a.differs(b, apart));
        if differ { a } else { Self::more_exact(a, b) }
    }

    /// The one of two statements of one figure that has more digits.
    pub(crate) fn more_exact(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.half_step < a.half_step { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// Parses a count such as `1,234`, `.5`, `27.9K`, `5.8617E+08`. Suffixes are powers of 1000. `None` for blanks, `####`,
/// other text, and commas that do not group thousands: they may be decimal commas.
pub(crate) fn count(text: &str) -> Option<Printed> {
    in_units(text, &[("", 1.0), ("K", 1e3), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("P", 1e15)])
}

/// A size in bytes: `240M`, `13,528K`, `8K`. Suffixes are powers of 1024; without one it counts `unit` bytes.
pub(crate) fn bytes(text: &str, unit: f64) -> Option<f64> {
    const GIB: f64 = 1_073_741_824.0;
    let units = [("", unit), ("K", 1024.0), ("k", 1024.0), ("M", 1_048_576.0), ("G", GIB), ("T", 1024.0 * GIB)];
    Some(in_units(text, &units)?.value)
}

fn in_units(text: &str, units: &[(&str, f64)]) -> Option<Printed> {
    let (figure, suffix) = split(text)?;
    units.iter().find(|(unit, _)| *unit == suffix).map(|(_, factor)| figure.scaled(*factor))
}

/// A size in the largest unit in which it is whole: `8KiB`, `1MiB`, `1000B`.
pub(crate) fn exact_bytes(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units.into_iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    unit.map_or_else(|| format!("{bytes}B"), |(name, unit)| format!("{}{name}", bytes / unit))
}

/// Parses a time in us: `268.69us`, `3.23ms`, `52.86 s`, `27.9K`. Without a unit its unit is `unit_us`; `None` if that
/// is unknown too.
pub(crate) fn time_us(text: &str, unit_us: Option<f64>) -> Option<Printed> {
    let (figure, suffix) = split(text)?;
    let factor = match suffix {
        "m" | "min" => 60e6,
        "h" => 3600e6,
        _ => match unit_us_of(suffix) {
            Some(factor) => factor,
            None => return count(text).zip(unit_us).map(|(counted, unit_us)| counted.scaled(unit_us)),
        },
    };
    Some(figure.scaled(factor))
}

/// The length of a unit of time in us, by its short name.
pub(crate) fn unit_us_of(name: &str) -> Option<f64> {
    match name {
        "ns" => Some(1e-3),
        "us" | "usec" | "usecs" => Some(1.0),
        "ms" | "msec" => Some(1e3),
        "cs" => Some(1e4),
        "s" | "sec" | "secs" | "seconds" => Some(1e6),
        _ => None,
    }
}

fn split(text: &str) -> Option<(Printed, &str)> {
    let text = text.trim();
    let sign = usize::from(text.starts_with('-'));
    let run = |from: usize, more: fn(u8) -> bool| from + text.bytes().skip(from).take_while(|byte| more(*byte)).count();
    let point = run(sign, |byte| byte.is_ascii_digit() || byte == b',');
    let end = if text[point..].starts_with('.') { run(point + 1, |byte| byte.is_ascii_digit()) } else { point };
    if !is_grouped(&text[sign..point]) {
        return None;
    }
    let (exponent, length) = exponent(&text[end..]);
    let decimals = end.saturating_sub(point + 1) as i32;
    let value: f64 = text[..end].replace(',', "").parse().ok()?;
    let scale = 10_f64.powi(exponent);
    let printed = Printed { value: value * scale, half_step: 0.5 * 10_f64.powi(exponent.saturating_sub(decimals)) };
    printed.value.is_finite().then(|| (printed, text[end + length..].trim_start()))
}

/// Whether three digits follow each comma.
fn is_grouped(whole: &str) -> bool {
    let (first, groups) = whole.split_once(',').map_or((whole, None), |(first, groups)| (first, Some(groups)));
    groups.is_none_or(|groups| {
        (1..=3).contains(&first.len()) && !first.starts_with('0') && groups.split(',').all(|group| group.len() == 3)
    })
}

/// The exponent at the begin of `text`, and its length: `E+08`.
fn exponent(text: &str) -> (i32, usize) {
    let Some(rest) = text.strip_prefix(['E', 'e']) else { return (0, 0) };
    let signed = usize::from(rest.starts_with(['+', '-']));
    let digits = rest[signed..].bytes().take_while(u8::is_ascii_digit).count();
    match rest[..signed + digits].trim_start_matches('+').parse::<i32>() {
        Ok(exponent) if (-300..=300).contains(&exponent) => (exponent, 1 + signed + digits),
        _ => (0, 0),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn near(printed: Option<Printed>, value: f64, half_step: f64) {
        let printed = printed.unwrap();
        assert!((printed.value - value).abs() <= 1e-9 * value.abs(), "{printed:?} for {value}");
        assert!((printed.half_step - half_step).abs() <= 1e-9 * half_step, "{printed:?} for {half_step}");
    }

    #[test]
    fn counts_are_read_in_every_dress() {
        near(count("76,481"), 76_481.0, 0.5);
        near(count(".4"), 0.4, 0.05);
        near(count("27.9K"), 27_900.0, 50.0);
        near(count("5.8617E+08"), 586_170_000.0, 5_000.0);
        near(count("1.2E+3M"), 1.2e9, 50e6);
        for none in
            ["", "   ", "########", "N/A", "-", "12x", "E5", "1.2.3", "k", "0,259", "59,23", "1,2345", ",500", "12,"]
        {
            assert_eq!(count(none), None, "{none:?}");
        }
    }

    #[test]
    fn times_bear_their_unit_with_and_without_a_space() {
        near(time_us("268.69us", Some(1e3)), 268.69, 0.005);
        near(time_us("3.23ms", None), 3_230.0, 5.0);
        near(time_us("52.86 s", None), 52.86e6, 5_000.0);
        near(time_us("0.55", Some(1e3)), 550.0, 5.0);
        assert_eq!(time_us("0.55", None), None, "a figure without a unit is no time");
        near(time_us("27.9K", Some(1e6)), 27.9e9, 50e6);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = (count(&text), bytes(&text, 1.0), time_us(&text, Some(1.0)));
        }

        #[test]
        fn numbers_with_separators_are_read_back(value in 0_u64..1_000_000_000_000) {
            let digits = value.to_string();
            let mut text = String::new();
            for (i, digit) in digits.chars().enumerate() {
                if i > 0 && (digits.len() - i) % 3 == 0 { text.push(','); }
                text.push(digit);
            }
            prop_assert!((count(&text).unwrap().value - value as f64).abs() < 0.5);
        }
    }
}
