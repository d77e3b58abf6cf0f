//! Values of options as text.

use std::time::Duration;

use mindful_core::units;
use mindful_core::{Error, Result};

/// `2@1.5s`: a session and a time.
pub fn session_at(text: &str) -> Result<(u32, Duration)> {
    let wrong = || Error::plan(format!("`{text}` is not a session at a time"), "write for example 2@1.5s");
    let (session, at) = text.split_once('@').ok_or_else(wrong)?;
    Ok((session.trim().parse().map_err(|_| wrong())?, units::parse_duration(at)?))
}

/// A number that is not negative.
pub fn number(text: &str) -> Result<f64> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err(Error::plan(format!("`{text}` is not a number from 0 up"), "write for example 0.05")),
    }
}

/// A number above 0.
pub fn positive(text: &str) -> Result<f64> {
    number(text).and_then(|value| match value {
        0.0 => Err(Error::plan("0 is too small here", "write a number above 0")),
        value => Ok(value),
    })
}

/// Values with commas or blanks between them.
pub fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()).map(parse).collect()
}
