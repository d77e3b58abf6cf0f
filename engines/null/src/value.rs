//! Values of options that several of them have.

use mindful_core::plan::units;
use mindful_core::{Error, Result};

/// Values with commas or blanks between them.
pub(crate) fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    if text.trim().is_empty() {
        return Err(Error::plan("nothing is listed", "omit it"));
    }
    text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()).map(parse).collect()
}

/// `1s+300ms`: two times, us; `wrong` for a text without the sign.
pub(crate) fn two_times(text: &str, wrong: impl FnOnce() -> Error) -> Result<(i64, i64)> {
    let us = |text| units::parse_duration(text).map(|time| time.as_micros() as i64);
    let (first, second) = text.split_once('+').ok_or_else(wrong)?;
    Ok((us(first)?, us(second)?))
}
