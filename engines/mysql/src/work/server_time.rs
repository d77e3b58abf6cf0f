//! Instants as the server writes them, in UTC: sessions have the time zone `+00:00`.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use mysql_common::value::Value;

/// Microseconds since the epoch of a DATETIME; `None` for anything else.
pub(crate) fn us(value: &Value) -> Option<i64> {
    let Value::Date(year, month, day, hour, minute, second, micros) = *value else { return None };
    let nanos = 1_000 * micros as i32;
    let at = DateTime::new(year as i16, month as i8, day as i8, hour as i8, minute as i8, second as i8, nanos).ok()?;
    Some(Offset::UTC.to_timestamp(at).ok()?.as_microsecond())
}

/// The DATETIME of an instant, us since the epoch.
pub(crate) fn datetime(us: i64) -> Value {
    let at = Offset::UTC.to_datetime(Timestamp::from_microsecond(us).unwrap_or(Timestamp::MAX));
    let micros = at.subsec_nanosecond() as u32 / 1_000;
    let [month, day, hour, minute, second] =
        [at.month(), at.day(), at.hour(), at.minute(), at.second()].map(|part| part as u8);
    Value::Date(at.year() as u16, month, day, hour, minute, second, micros)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_instants_are_converted_exactly() {
        let value = Value::Date(2026, 11, 22, 12, 34, 56, 789);
        assert_eq!(us(&value), Some(1_795_350_896_000_789));
        assert_eq!(us(&Value::Date(2000, 2, 29, 0, 0, 0, 0)), Some(951_782_400_000_000));
        assert_eq!(us(&Value::NULL), None);
    }

    proptest! {
        #[test]
        fn a_written_instant_is_read_back(instant in 0_i64..4_000_000_000_000_000) {
            prop_assert_eq!(us(&datetime(instant)), Some(instant));
        }
    }
}
