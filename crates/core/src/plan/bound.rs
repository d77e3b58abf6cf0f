//! Bounds of settings: from where to where a count, a size, a time or a number makes sense.

use std::fmt;
use std::time::Duration;

use crate::contract::error::{Error, Result};
use crate::dataset::Extent;
use crate::plan::units;

/// The least and the greatest value of a setting, both allowed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// Any value that the setting's own parser accepts.
    Own,
    Count(u64, u64),
    Size(u64, u64),
    /// Bytes up to [`units::LARGEST`], or blocks up to [`Extent::MOST_BLOCKS`].
    Extent,
    Time(Duration, Duration),
    Number(f64, f64),
}

impl Bound {
    /// Any time that a plan may have, zero included.
    pub const ANY_TIME: Self = Self::Time(Duration::ZERO, units::LONGEST);

    /// A time of any length that something takes or is waited for.
    pub(crate) const SOME_TIME: Self = Self::Time(Duration::from_millis(1), units::LONGEST);

    /// Whether a reader of the help needs it: a limit near usual values, not one that only keeps nonsense out.
    pub(crate) fn is_worth_showing(self) -> bool {
        match self {
            Self::Own | Self::Extent | Self::Time(..) => false,
            Self::Count(_, most) => most <= 1_000_000,
            Self::Size(_, most) => most < units::LARGEST,
            Self::Number(..) => true,
        }
    }

    /// Refuses a `text` that is not such a value, or that is beyond the bound.
    pub fn check(self, text: &str) -> Result<()> {
        let within = match self {
            Self::Own => true,
            Self::Count(least, most) => (least..=most).contains(&units::parse_count(text)?),
            Self::Size(least, most) => (least..=most).contains(&units::parse_bytes(text)?),
            Self::Extent => Extent::parse(text).map(|_| true)?,
            Self::Time(least, most) => (least..=most).contains(&units::parse_duration(text)?),
            Self::Number(least, most) => (least..=most).contains(&units::parse_number(text)?),
        };
        if within { Ok(()) } else { Err(Error::plan(format!("`{text}` is out of range"), format!("give {self}"))) }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = |bytes| units::format_bytes(bytes).replace(' ', "");
        match *self {
            Self::Own => Ok(()),
            Self::Count(least, most) => write!(f, "{least} to {most}"),
            Self::Size(least, most) => write!(f, "{} to {}", size(least), size(most)),
            Self::Extent => write!(f, "0 to {} or {} blocks", size(units::LARGEST), Extent::MOST_BLOCKS),
            Self::Time(least, most) => write!(f, "{} to {}", time(least), time(most)),
            Self::Number(least, most) => write!(f, "{least} to {most}"),
        }
    }
}

/// A time as short as it can be written.
fn time(time: Duration) -> String {
    let hours = time.as_secs() / 3600;
    if hours > 0 && time == Duration::from_hours(hours) {
        return format!("{hours}h");
    }
    units::format_duration(time).replace(' ', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_takes_its_ends_and_nothing_beyond() {
        let ends = [
            (Bound::Count(1, 64), ["1", "64"], ["0", "65"]),
            (Bound::Size(512, 1 << 20), ["512B", "1MiB"], ["511B", "1048577B"]),
            (Bound::Extent, ["0", "1099511627776"], ["-1", "1099511627777"]),
            (Bound::SOME_TIME, ["1ms", "168h"], ["999us", "604800001ms"]),
            (Bound::Number(1.0, 100.0), ["1", "1e2"], ["0.999", "NaN"]),
        ];
        for (bound, inside, outside) in ends {
            for text in inside {
                bound.check(text).unwrap();
            }
            for text in outside {
                let message = bound.check(text).unwrap_err().to_string();
                assert!(message.contains(text), "{message}");
            }
        }
    }

    #[test]
    fn a_bound_reads_as_its_values_are_written() {
        assert_eq!(Bound::SOME_TIME.to_string(), "1ms to 168h");
        assert_eq!(Bound::ANY_TIME.to_string(), "0s to 168h");
        assert_eq!(Bound::Size(512, 64 << 20).to_string(), "512B to 64MiB");
        assert_eq!(Bound::Number(0.5, 100.0).to_string(), "0.5 to 100");
    }
}
