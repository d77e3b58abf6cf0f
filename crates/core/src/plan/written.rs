//! Choices as text of a plan: the inverse of [`super::parse`].

use std::fmt::{Display, Formatter, Result};
use std::time::Duration;

use crate::dataset::Content;
use crate::plan::units;
use crate::workload::{Commit, Rate, Skew, ThinkTime};

impl Display for Content {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Mixed { compress_ratio, dedupe_ratio } => {
                write!(f, "mixed, compress ratio {compress_ratio}, dedupe ratio {dedupe_ratio}")
            }
            Self::Repeated => f.write_str("repeated"),
        }
    }
}

impl Display for Commit {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Each => f.write_str("each"),
            Self::Every(count) => write!(f, "{count}"),
            Self::Slice => f.write_str("slice"),
        }
    }
}

impl Display for Skew {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf(theta) => write!(f, "zipf:{theta}"),
            Self::HotSet { fraction, probability, moves_every } => {
                write!(f, "hotset:{}%,{}%", fraction.percent(), probability.percent())?;
                if *moves_every > 0 { write!(f, ",{moves_every}") } else { Ok(()) }
            }
        }
    }
}

impl Display for ThinkTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let time = |duration: Duration| units::format_duration(duration).replace(' ', "");
        if self.share != units::Share::ALL {
            write!(f, "{}%:", self.share.percent())?;
        }
        if self.exponential {
            write!(f, "exp:{}", time(self.max))
        } else {
            write!(f, "{}..{}", time(self.min), time(self.max))
        }
    }
}

impl Display for Rate {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{}", if self.even { "even:" } else { "" }, self.per_s)
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;

    #[test]
    fn a_written_value_is_the_parsed_value() {
        for text in ["uniform", "zipf:0.9", "hotset:20%,80%", "hotset:12.5%,80%,1000"] {
            assert_eq!(parse::skew(text).unwrap().to_string(), text);
        }
        for text in ["20%:10ms..50ms", "1.5s..2s", "exp:350ms", "33.33%:exp:1s"] {
            assert_eq!(parse::think_time(text).unwrap().to_string(), text);
        }
        for text in ["5000", "even:12.5"] {
            assert_eq!(parse::rate(text).unwrap().to_string(), text);
        }
        for text in ["each", "16", "slice"] {
            assert_eq!(parse::commit(text).unwrap().to_string(), text);
        }
    }
}
