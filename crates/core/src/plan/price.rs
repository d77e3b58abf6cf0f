//! What an hour of what is measured costs, as its user says. No prices are built in.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result, one_line};

/// Least and most that an hour may cost, in whatever currency.
const BOUNDS: std::ops::RangeInclusive<f64> = 0.0001..=10_000_000.0;

/// Seconds of an hour.
const HOUR_S: f64 = 3_600.0;

/// A price per hour.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// Units of the currency for an hour.
    pub per_hour: f64,
    /// The currency by its three letters (ISO 4217), such as EUR.
    pub currency: String,
}

impl Price {
    /// `1.92 EUR`.
    ///
    /// # Errors
    /// Anything else, and what no hour costs.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let bad = |what: &str| {
            let (least, most) = (BOUNDS.start(), BOUNDS.end());
            let next =
                format!("write what an hour costs and the currency's three letters, {least} to {most}: '1.92 EUR'");
            Error::plan(format!("`{}` {what}", one_line(text)), next)
        };
        let text = text.trim();
        let at = text.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(|| bad("names no currency"))?;
        let (number, currency) = text.split_at(at);
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(bad("is not a price per hour"));
        }
        let number = number.trim();
        let plain = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let per_hour: f64 = number.parse().ok().filter(|_| plain).ok_or_else(|| bad("is not a price per hour"))?;
        if !BOUNDS.contains(&per_hour) {
            return Err(bad("is out of range"));
        }
        Ok(Self { per_hour, currency: currency.to_owned() })
    }

    /// How many of something that happens `per_s` times a second one unit of the currency buys.
    #[must_use]
    pub fn work_per_unit(&self, per_s: f64) -> f64 {
        per_s * HOUR_S / self.per_hour
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.per_hour, self.currency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_as_it_is_written() {
        for text in ["1.92 EUR", "0.0001 USD", "12 JPY", "10000000 IDR"] {
            assert_eq!(Price::parse(text).unwrap().to_string(), text);
        }
        let price = Price::parse("2EUR").unwrap();
        assert!((price.work_per_unit(1_000.0) - 1.8e6).abs() < 1e-6, "1,000 a second for half an hour");
    }

    #[test]
    fn what_no_hour_costs_is_refused_with_an_example() {
        for text in [
            "",
            "1.92",
            "EUR",
            "0 EUR",
            "-1 EUR",
            "1e9 EUR",
            "99999999 EUR",
            "nan EUR",
            "inf USD",
            "1,92 EUR",
            "1.92 eur",
            "1.92 EURO",
            "$1.92",
            "1.92 EUR/h",
            "0.00001 EUR",
        ] {
            let error = Price::parse(text).unwrap_err();
            assert!(error.to_string().contains("'1.92 EUR'"), "{text}: {error}");
        }
    }
}
