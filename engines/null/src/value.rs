//! Values of options as text.

use std::time::Duration;

use mindful_core::plan::{Bound, units};
use mindful_core::{Error, Result};

/// `2@1.5s`: a session and a time.
pub(crate) fn session_at(text: &str) -> Result<(u32, Duration)> {
    let wrong = || Error::plan(format!("`{text}` is not a session at a time"), "write for example 2@1.5s");
    let (session, at) = text.split_once('@').ok_or_else(wrong)?;
    Ok((session.trim().parse().map_err(|_| wrong())?, units::parse_duration(at)?))
}

/// Parses a factor of a duration.
pub(crate) fn factor(text: &str) -> Result<f64> {
    let value = units::parse_number(text)?;
    Bound::Number(0.0, 1e6).check(text).map(|()| value)
}

/// Values with commas or blanks between them.
pub(crate) fn list<T>(text: &str, parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    if text.trim().is_empty() {
        return Err(Error::plan("nothing is listed", "omit it"));
    }
    text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()).map(parse).collect()
}
