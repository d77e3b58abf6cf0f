//! Price of the measured system, as the user stated it. No prices are built in.
//!
//! A price is a sum of parts per hour or per month: `compute 0.5 + storage 92/month EUR, 2026-11-01, list price`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result, one_line};

/// Lowest and highest price of an hour, in any currency.
const BOUNDS: std::ops::RangeInclusive<f64> = 0.0001..=10_000_000.0;

const HOUR_S: f64 = 3_600.0;

/// Hours of a month, as clouds count them: 365 days by 12.
const MONTH_HOURS: f64 = 730.0;

pub const PRICE_PARTS: [&str; 5] = ["compute", "storage", "iops", "network", "replicas"];

/// A price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// Units of the currency for an hour, all parts together.
    pub per_hour: f64,
    /// The currency by its three letters (ISO 4217), such as EUR.
    pub currency: String,
    /// Parts of the price; absent if none were given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) parts: Vec<PricePart>,
    /// Its date, such as 2026-11-01; absent if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Source of the price; absent if it was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A part of a price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct PricePart {
    /// `compute`, `storage`, `iops`, `network` or `replicas`; `all` where no part was named.
    pub what: String,
    /// Units of the currency.
    pub amount: f64,
    pub(crate) per: PricePeriod,
}

/// The time that a part of a price is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum PricePeriod {
    /// An hour.
    Hour,
    /// A month of 730 hours.
    Month,
}

impl Price {
    /// Parses `1.92 EUR` an hour, or parts: `compute 0.5 + storage 92/month EUR, 2026-11-01, list price`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = |what: &str| {
            let (least, most) = (BOUNDS.start(), BOUNDS.end());
            let next = format!(
                "write what an hour costs, {least} to {most}, and the currency's three letters: '1.92 EUR' or \
                 'compute 0.5 + storage 92/month EUR'; the parts are {}",
                PRICE_PARTS.join(", ")
            );
            Error::plan(format!("`{}` {what}", one_line(text)), next)
        };
        let (sum, origin) = text.trim().split_once(',').unwrap_or((text.trim(), ""));
        let (sum, period) = split_period(sum.trim());
        let at =
            sum.len().checked_sub(3).filter(|at| sum.is_char_boundary(*at)).ok_or_else(|| bad("is not a price"))?;
        let (amounts, currency) = sum.split_at(at);
        if !currency.bytes().all(|byte| byte.is_ascii_uppercase()) || amounts.ends_with(|c: char| c.is_alphabetic()) {
            return Err(bad("names no currency"));
        }
        let amounts = format!("{}{period}", amounts.trim_end());
        let parts: Option<Vec<PricePart>> = amounts.split('+').map(PricePart::parse).collect();
        let parts = parts.ok_or_else(|| bad("is not a price"))?;
        let twice = |at: usize| parts[..at].iter().any(|before| before.what == parts[at].what);
        if (0..parts.len()).any(twice) {
            return Err(bad("has a part twice"));
        }
        let per_hour = parts.iter().map(PricePart::per_hour).sum();
        if !BOUNDS.contains(&per_hour) {
            return Err(bad("is out of range"));
        }
        let plain = matches!(parts.as_slice(), [one] if one.what == ALL && one.per == PricePeriod::Hour);
        let (date, source) = date_and_source(origin);
        let parts = if plain { Vec::new() } else { parts };
        Ok(Self { per_hour, currency: currency.to_owned(), parts, date, source })
    }

    /// Number of events that one unit of the currency buys at `per_s` events a second.
    pub fn work_per_unit(&self, per_s: f64) -> f64 {
        per_s * HOUR_S / self.per_hour
    }

    /// Price of a million events at `per_s` events a second.
    pub fn per_million(&self, per_s: f64) -> f64 {
        1e6 / self.work_per_unit(per_s)
    }

    pub fn per_month(&self) -> f64 {
        self.per_hour * MONTH_HOURS
    }

    /// The parts, date and source in words; empty without them.
    pub fn details(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(PricePart::to_string).collect();
        let parts = (!parts.is_empty()).then(|| parts.join(" + "));
        [parts, self.date.clone(), self.source.clone()].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The sum with its details: `0.626027 EUR (compute 0.5/hour + storage 92/month, 2026-11-01)`.
    pub fn in_full(&self) -> String {
        match self.details() {
            details if details.is_empty() => self.to_string(),
            details => format!("{self} ({details})"),
        }
    }
}

/// The name of the one part of a price without parts.
const ALL: &str = "all";

impl PricePart {
    /// Parses `storage 92/month`; `None` for other text.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let number_at = text.find(|c: char| !c.is_ascii_alphabetic() && c != ' ')?;
        let (name, amount) = text.split_at(number_at);
        let name = name.trim().to_lowercase();
        let what = match name.as_str() {
            "" => ALL.to_owned(),
            name if PRICE_PARTS.contains(&name) => name.to_owned(),
            _ => return None,
        };
        let (amount, per) = match amount.split_once('/') {
            None => (amount, PricePeriod::Hour),
            Some((amount, "h" | "hour")) => (amount, PricePeriod::Hour),
            Some((amount, "month")) => (amount, PricePeriod::Month),
            Some(_) => return None,
        };
        let amount = amount.trim();
        let plain = amount.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let amount = amount.parse::<f64>().ok().filter(|amount| plain && amount.is_finite())?;
        Some(Self { what, amount, per })
    }

    fn per_hour(&self) -> f64 {
        match self.per {
            PricePeriod::Hour => self.amount,
            PricePeriod::Month => self.amount / MONTH_HOURS,
        }
    }
}

/// Splits `1.92 EUR/h` into its sum and `/h`. A sum of parts has the period at each part.
fn split_period(sum: &str) -> (&str, &str) {
    match sum.rfind('/') {
        Some(at) if sum[..at].ends_with(|c: char| c.is_ascii_uppercase()) && !sum.contains('+') => sum.split_at(at),
        _ => (sum, ""),
    }
}

/// Date and source, the date first; either may be missing.
fn date_and_source(text: &str) -> (Option<String>, Option<String>) {
    let known = |text: &str| (!text.trim().is_empty()).then(|| one_line(text.trim()));
    let (first, rest) = text.split_once(',').unwrap_or((text, ""));
    let digits: Vec<&str> = first.trim().split('-').collect();
    let is_date = matches!(digits.as_slice(), [y, m, d] if [y.len(), m.len(), d.len()] == [4, 2, 2])
        && digits.concat().bytes().all(|byte| byte.is_ascii_digit());
    if is_date { (known(first), known(rest)) } else { (None, known(text)) }
}

/// The sum of an hour, to a millionth of the currency.
impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", (self.per_hour * 1e6).round() / 1e6, self.currency)
    }
}

impl fmt::Display for PricePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let per = if self.per == PricePeriod::Hour { "hour" } else { "month" };
        let name = if self.what == ALL { String::new() } else { format!("{} ", self.what) };
        write!(f, "{name}{}/{per}", self.amount)
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
        assert!((price.per_million(1_000.0) - 1.0 / 1.8).abs() < 1e-9);
    }

    #[test]
    fn parts_per_hour_and_per_month_add_up_with_date_and_source() {
        let price =
            Price::parse("compute 0.5/hour + storage 73/month + IOPS 0 USD, 2026-11-01, list, us-east-1").unwrap();
        assert!((price.per_hour - 0.6).abs() < 1e-12 && (price.per_month() - 438.0).abs() < 1e-9);
        assert_eq!(
            price.in_full(),
            "0.6 USD (compute 0.5/hour + storage 73/month + iops 0/hour, 2026-11-01, list, us-east-1)"
        );
        let month = Price::parse("730/month EUR, offer of a vendor").unwrap();
        assert_eq!((month.to_string(), month.date), ("1 EUR".to_owned(), None));
        assert_eq!(month.source.as_deref(), Some("offer of a vendor"));
        assert_eq!(Price::parse("1.92 EUR/h").unwrap().to_string(), "1.92 EUR");
        assert_eq!(Price::parse("storage 730 EUR/month").unwrap().in_full(), "1 EUR (storage 730/month)");
    }

    #[test]
    fn an_impossible_price_is_refused_with_an_example() {
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
            "1.92 EUR/year",
            "1.92/h EUR/h",
            "compute 1 + storage 2 EUR/h",
            "0.00001 EUR",
            "licence 3 EUR",
            "storage 1 + storage 2 EUR",
            "storage 1/year EUR",
            "1 + + 2 EUR",
        ] {
            let error = Price::parse(text).unwrap_err();
            assert!(error.to_string().contains("'1.92 EUR'"), "{text}: {error}");
        }
    }
}
