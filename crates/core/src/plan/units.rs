//! Sizes, times and shares as text with units, both ways.
//!
//! `MiB` is 2^20 bytes and `MB` is 10^6, always. A bare `M` is refused: its meaning differs between tools.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};

const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
const DECIMAL: [(&str, u64); 4] = [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];

/// Largest size that a user may set, 1 PiB. Times a number of schemas and with indexes, it still fits 64 bits.
pub const LARGEST: u64 = 1 << 50;

/// Longest time that a user may set, a week: short enough for every clock and every list of slices.
pub const LONGEST: Duration = Duration::from_hours(168);

/// Bytes from text such as `64MiB`, `1.5 GB` or `8192B`, up to [`LARGEST`].
pub fn parse_bytes(text: &str) -> Result<u64> {
    let (number, unit) = split_unit(text);
    let factor = BINARY
        .iter()
        .chain(&DECIMAL)
        .find(|(name, _)| name.eq_ignore_ascii_case(unit))
        .map(|(_, factor)| *factor)
        .or_else(|| unit.eq_ignore_ascii_case("b").then_some(1));
    let Some(factor) = factor else {
        return Err(bad_size(text, unit));
    };
    match scaled(number, factor).ok_or_else(|| bad_size(text, unit))? {
        bytes if bytes > LARGEST => Err(beyond(text, &format_bytes(LARGEST))),
        bytes => Ok(bytes),
    }
}

fn beyond(text: &str, most: &str) -> Error {
    Error::plan(format!("`{text}` is out of range"), format!("give {} or less", most.replace(' ', "")))
}

fn bad_size(text: &str, unit: &str) -> Error {
    let next = match unit.chars().next().map(|c| c.to_ascii_uppercase()) {
        Some(letter @ ('K' | 'M' | 'G' | 'T')) => {
            format!("write {letter}iB for the power of two or {letter}B for the power of ten")
        }
        _ => "write a number and a unit, such as 64MiB or 10GB".to_owned(),
    };
    Error::plan(format!("`{text}` is not a size"), next)
}

/// A time from text such as `250ms`, `30s`, `2m`, `1.5h`, up to [`LONGEST`].
pub fn parse_duration(text: &str) -> Result<Duration> {
    let (number, unit) = split_unit(text);
    let factor = match unit {
        "us" | "µs" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "m" | "min" => 60_000_000,
        "h" => 3_600_000_000,
        _ => 0,
    };
    let time = scaled(number, factor).filter(|_| factor > 0).map(Duration::from_micros).ok_or_else(|| {
        Error::plan(format!("`{text}` is not a time"), "write a number and a unit: us, ms, s, m or h, such as 30s")
    })?;
    if time > LONGEST { Err(beyond(text, &format!("{}h", LONGEST.as_secs() / 3600))) } else { Ok(time) }
}

fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number` times `factor`, at most [`u64::MAX`]; `None` for text that is not a number, or too small to differ from 0.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let plain = number.replace('_', "");
    if !plain.is_empty() && plain.bytes().all(|b| b.is_ascii_digit()) {
        return Some(plain.parse::<u64>().map_or(u64::MAX, |whole| whole.saturating_mul(factor)));
    }
    let value = plain.parse::<f64>().ok()? * factor as f64;
    (value == 0.0 || value >= 0.5).then(|| value.round() as u64)
}

/// A whole number, digits and `_` only.
pub fn parse_count(text: &str) -> Result<u64> {
    text.trim()
        .replace('_', "")
        .parse()
        .map_err(|_| Error::plan(format!("`{text}` is not a whole number"), "write digits, such as 64"))
}

/// Parses a finite number, with or without a fraction.
pub fn parse_number(text: &str) -> Result<f64> {
    let value = text.trim().parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| Error::plan(format!("`{text}` is not a number"), "write for example 0.05"))
}

/// Bytes as text with two or three digits that matter: `1.00 GiB`.
pub fn format_bytes(bytes: u64) -> String {
    match BINARY.iter().find(|(_, factor)| bytes >= *factor) {
        Some((unit, factor)) => {
            let value = bytes as f64 / *factor as f64;
            if value.fract() == 0.0 { format!("{value:.0} {unit}") } else { format!("{value:.2} {unit}") }
        }
        None => format!("{bytes} B"),
    }
}

/// A time as text: `30 s`, `1.5 s`, `250 ms`.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds >= 1.0 || duration.is_zero() {
        let text = format!("{seconds:.3}");
        format!("{} s", text.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format!("{} ms", duration.as_secs_f64() * 1_000.0)
    }
}

/// A share in hundredths of a percent, 0 to 10,000: exact where a float is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Share(u32);

impl Share {
    /// The number that means 100 %.
    pub const WHOLE: u32 = 10_000;
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(Self::WHOLE);

    /// A share from hundredths of a percent; `None` above 100 %.
    pub const fn from_hundredths(hundredths: u32) -> Option<Self> {
        if hundredths <= Self::WHOLE { Some(Self(hundredths)) } else { None }
    }

    /// A share from text: `20`, `12.5` or `20%`, in percent.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::plan(
                format!("`{text}` is not a share"),
                "write a percentage from 0 to 100 in steps of 0.01, such as 20 or 12.5",
            )
        };
        let value: f64 = text.trim().trim_end_matches('%').trim().parse().map_err(|_| bad())?;
        let hundredths = (value * 100.0).round();
        // A share that rounds to 0 or 100 % is refused, because both mean something else.
        let rounded_away = value > 0.0 && hundredths == 0.0 || value < 100.0 && hundredths >= 10_000.0;
        if !(0.0..=100.0).contains(&value) || rounded_away {
            return Err(bad());
        }
        Ok(Self(hundredths as u32))
    }

    pub const fn hundredths(self) -> u32 {
        self.0
    }

    pub fn percent(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// `1234567` as `1,234,567`.
pub fn format_whole(number: u64) -> String {
    let digits = number.to_string();
    let threes = digits.as_bytes().rchunks(3).rev();
    threes.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// A figure without decimals: `12,345`.
pub fn format_rounded(value: f64) -> String {
    format_whole(value.round().max(0.0) as u64)
}

/// `1 step`, `3 steps`, `2 processes`: a number of things.
pub fn format_counted(count: impl TryInto<u64>, thing: &str) -> String {
    let ending = if thing.ends_with('s') { "es" } else { "s" };
    match count.try_into() {
        Ok(1) => format!("1 {thing}"),
        Ok(count) => format!("{} {thing}{ending}", format_whole(count)),
        Err(_) => format!("- {thing}{ending}"),
    }
}

/// `a read`, `an update`, `a unit`: a thing with its article, by how its name begins.
pub fn with_article(thing: &str) -> String {
    let vowel = thing.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O']) && !thing.starts_with("uni");
    format!("{} {thing}", if vowel { "an" } else { "a" })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_read_with_their_units() {
        let sizes = ["1MiB", "1MB", "1.5 gib"].map(|text| parse_bytes(text).unwrap());
        assert_eq!(sizes, [1_048_576, 1_000_000, 1_610_612_736], "binary and decimal units differ always");
        assert_eq!(parse_duration("1.5s").unwrap(), Duration::from_millis(1500));
        assert_eq!(["12.5", "0.01"].map(|text| Share::parse(text).unwrap().hundredths()), [1250, 1]);
    }

    #[test]
    fn values_too_small_or_too_large_are_refused() {
        for text in ["30", "-3s", "0.4us", "169h", "18446744073709551616h", "9e9h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        for text in ["0.4B", "1025TiB", "18446744073709551615B", "99999999999999999999TiB", ".B", "B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
        for text in ["0.004", "99.999", "101", "NaN"] {
            assert!(Share::parse(text).is_err(), "{text}");
        }
        assert!(parse_number("1e999").is_err() && parse_number("inf").is_err());
        let message = parse_bytes("64M").unwrap_err().to_string();
        assert!(message.contains("MiB") && message.contains("MB"), "{message}");
    }

    proptest! {
        #[test]
        fn whole_sizes_survive_the_round_trip(mib in 1_u64..1_000_000) {
            prop_assert_eq!(parse_bytes(&format!("{mib}MiB")).unwrap(), mib << 20);
        }

        #[test]
        fn no_text_makes_a_parser_panic(text in ".{0,24}") {
            let _ = (parse_bytes(&text), parse_duration(&text), Share::parse(&text), parse_count(&text));
        }
    }

    #[test]
    fn one_thing_is_no_things() {
        assert_eq!([0_u64, 1, 1_234].map(|count| format_counted(count, "step")), ["0 steps", "1 step", "1,234 steps"]);
        assert_eq!([1_u64, 2].map(|count| format_counted(count, "process")), ["1 process", "2 processes"]);
        assert_eq!(["read", "update", "unit", "I/O"].map(with_article), ["a read", "an update", "a unit", "an I/O"]);
    }
}
