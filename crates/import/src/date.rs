//! Dates as Oracle prints them, in the languages of sites.

use jiff::civil::Date;

/// Names of months as Oracle abbreviates them, in lower case: in English, German, French, Spanish, Portuguese and Italian.
/// In Chinese, Japanese and Korean a month is its number before one more letter.
const MONTHS: [&[&str]; 12] = [
    &["jan", "janv", "ene", "gen"],
    &["feb", "févr", "fév", "fev"],
    &["mar", "mär", "mrz", "mars"],
    &["apr", "avr", "avril", "abr"],
    &["may", "mai", "mag"],
    &["jun", "juin", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "août", "ago"],
    &["sep", "sept", "set"],
    &["oct", "okt", "out", "ott"],
    &["nov"],
    &["dec", "dez", "déc", "dic"],
];

fn month(name: &str) -> Option<i8> {
    let name = name.trim().trim_end_matches('.').to_lowercase();
    let named = || MONTHS.iter().position(|names| names.contains(&name.as_str())).map(|place| place as i8 + 1);
    let number = name.strip_suffix(['月', '월']).unwrap_or(&name).trim();
    let numbered = || number.parse::<i8>().ok().filter(|month| (1..=12).contains(month));
    named().or_else(numbered)
}

/// Seconds from the epoch to the begin of a day: `23-May-16`, `23.05.2016` or `2016-05-23`. `None` for other forms:
/// with slashes the order of day and month is ambiguous.
pub(crate) fn day_s(text: &str) -> Option<i64> {
    let mark = ['-', '/', '.'].into_iter().find(|mark| text.matches(*mark).count() == 2)?;
    let mut parts = text.split(mark).map(str::trim);
    let (first, name, last) = (parts.next()?, parts.next()?, parts.next()?);
    let (day, year) = if first.len() == 4 { (last, first) } else { (first, last) };
    let month = month(name).filter(|_| mark != '/' || first.len() == 4)?;
    let year: i16 = year.parse().ok()?;
    let year = if (0..100).contains(&year) { year + 2000 } else { year };
    let date = Date::new(year, month, day.parse().ok()?).ok()?;
    Some(i64::from(date.since(Date::constant(1970, 1, 1)).ok()?.get_days()) * 86_400)
}

/// Seconds from the begin of a day.
pub(crate) fn clock_s(hour: i64, minute: i64, second: i64) -> Option<i64> {
    let is_clock = (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    is_clock.then_some(hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_the_languages_of_sites() {
        let named = ["23-May-16", "23-Mai-16", "23-MAI  -16", "23-Mag-16", "23-5月 -16", "23-5월 -16"];
        for text in named.into_iter().chain(["23-05-16", "23.05.2016", "2016-05-23", "2016/05/23"]) {
            assert_eq!(day_s(text), Some(1_463_961_600), "{text}");
        }
        assert_eq!(day_s("01-FÉVR.-21"), day_s("01-Feb-21"));
        assert_eq!(day_s("01-DEZ-21"), day_s("01-Dec-21"));
        for text in ["", "23-Xyz-16", "99-May-16", "23-13月-16", "05/06/16", "23-May"] {
            assert_eq!(day_s(text), None, "{text}");
        }
    }
}
