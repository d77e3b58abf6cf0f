//! Instants as the server writes them, in UTC: sessions have the time zone `+00:00`.

use mysql::Value;

const DAY_US: i64 = 86_400_000_000;

/// Microseconds since the epoch of a DATETIME; `None` of anything else.
pub(crate) fn us(value: &Value) -> Option<i64> {
    let Value::Date(year, month, day, hour, minute, second, micros) = *value else { return None };
    let seconds = (i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some(days(year.into(), month.into(), day.into()) * DAY_US + seconds * 1_000_000 + i64::from(micros))
}

/// The DATETIME of an instant, us since the epoch.
pub(crate) fn datetime(us: i64) -> Value {
    let (days, within) = (us.div_euclid(DAY_US), us.rem_euclid(DAY_US));
    let (year, month, day) = civil(days);
    let (seconds, micros) = (within / 1_000_000, within % 1_000_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    Value::Date(year as u16, month as u8, day as u8, hour as u8, minute as u8, second as u8, micros as u32)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar. Years begin in March, so that the leap day ends one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse of [`days`].
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (day, month) = (of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_instants_are_what_they_are() {
        let value = Value::Date(2026, 11, 22, 12, 34, 56, 789);
        assert_eq!(us(&value), Some(1_795_350_896_000_789));
        assert_eq!(us(&Value::Date(2000, 2, 29, 0, 0, 0, 0)), Some(951_782_400_000_000));
        assert_eq!(us(&Value::NULL), None);
    }

    proptest! {
        #[test]
        fn an_instant_is_read_as_it_was_written(instant in 0_i64..4_000_000_000_000_000) {
            prop_assert_eq!(us(&datetime(instant)), Some(instant));
        }
    }
}
