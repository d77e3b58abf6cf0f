//! The style of the numbers in a report: `1,234.5`, or `1.234,5` with decimal commas, or with apostrophes or blanks.
//!
//! Numbers that only one style can have decide once for a report: `0.55` or `0,55`, not `1,234`. Cells of another style
//! are rewritten to the common style.

use super::table::Table;
use crate::number::with_apostrophes;

const APOSTROPHE: char = '\'';

/// Brings the numbers in the rows of `tables` to the style `1234.5`, where theirs is not `1,234.5` already.
pub(crate) fn unify(tables: &mut [Table]) {
    let mut cells: Vec<_> = tables.iter_mut().flat_map(|table| &mut table.rows).flatten().collect();
    // A blank may also be between two columns: it groups digits where no other mark does.
    let blanks = !cells.iter().flat_map(|cell| cell.split_whitespace()).map(number).any(has_groups);
    let (mut points, mut commas, mut grouped) = (0_usize, 0_usize, false);
    for cell in &mut cells {
        let by_blanks = || grouped_by_blanks(cell).filter(|_| blanks);
        if let Some(plain) = with_apostrophes(cell).or_else(by_blanks) {
            **cell = plain;
        }
        for number in cell.split_whitespace().map(number) {
            let (point, comma) = (is_number(number, ',', '.'), is_number(number, '.', ','));
            points += usize::from(point && !comma);
            commas += usize::from(comma && !point);
            grouped |= number.contains(APOSTROPHE);
        }
    }
    let decimal_commas = commas > points;
    if !decimal_commas && !grouped {
        return;
    }
    for cell in cells {
        let words: Vec<_> = cell.split_whitespace().map(|word| plain(word, decimal_commas)).collect();
        *cell = words.join(" ");
    }
}

/// Whether a comma or a point may group the digits of `number`.
fn has_groups(number: &str) -> bool {
    let grouped = |group: char, point: char| number.contains(group) && is_number(number, group, point);
    grouped(',', '.') || grouped('.', ',')
}

/// `cell` with apostrophes for blanks, if it is one number with groups of digits, with or without words in brackets.
fn grouped_by_blanks(cell: &str) -> Option<String> {
    let (number, rest) = cell.split_at(cell.find(" (").unwrap_or(cell.len()));
    let grouped = number.contains(' ') && ['.', ','].iter().any(|point| is_number(number, ' ', *point));
    grouped.then(|| number.replace(' ', "'") + rest)
}

/// The number at the begin of a word; a unit may follow, but nothing else.
fn number(word: &str) -> &str {
    let end = word.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',' | '-') && c != APOSTROPHE);
    let (number, unit) = word.split_at(end.unwrap_or(word.len()));
    let is_unit = unit.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '%' | '+' | '-'));
    if is_unit { number } else { "" }
}

fn is_number(text: &str, group: char, point: char) -> bool {
    let text = text.strip_prefix('-').unwrap_or(text);
    let (whole, decimals) = text.split_once(point).map_or((text, None), |(whole, decimals)| (whole, Some(decimals)));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split([group, APOSTROPHE]);
    let first = groups.next().unwrap_or_default();
    let rest: Vec<_> = groups.collect();
    let grouped = (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3 && digits(group));
    let some = decimals.map_or(!whole.is_empty(), |decimals| !decimals.is_empty());
    some && digits(first) && decimals.is_none_or(digits) && (rest.is_empty() || grouped)
}

fn plain(word: &str, decimal_commas: bool) -> String {
    let number = number(word);
    let (group, point) = if decimal_commas { ('.', ',') } else { (',', '.') };
    if !is_number(number, group, point) {
        return word.to_owned();
    }
    let letters = number.chars().filter(|c| ![group, APOSTROPHE].contains(c));
    letters.map(|c| if c == point { '.' } else { c }).chain(word[number.len()..].chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unified(cells: &[&str]) -> Vec<String> {
        let rows = vec![cells.iter().map(|cell| (*cell).to_owned()).collect()];
        let mut tables = [Table { rows, ..Table::default() }];
        unify(&mut tables);
        tables[0].rows.remove(0)
    }

    #[test]
    fn numbers_of_every_site_come_to_one_style() {
        let cases: [(&[&str], &[&str]); 7] = [
            (&["1,234.5", "0.55", "1,234", "1.234"], &["1,234.5", "0.55", "1,234", "1.234"]),
            (&["1.234,5", "0,55", "1.234", "620,53us", "5,5E+08"], &["1234.5", "0.55", "1234", "620.53us", "5.5E+08"]),
            (&["59,98 (mins)", "11.2.0.4.0", "10.9.8.7", ",5"], &["59.98 (mins)", "11.2.0.4.0", "10.9.8.7", ".5"]),
            (&["1'234'567.8", "12'345", "o'clock"], &["1234567.8", "12345", "o'clock"]),
            (&["1\u{202f}234\u{202f}567,8", "12\u{a0}345", "a,b"], &["1234567.8", "12345", "a,b"]),
            (
                &["1 234,5 (mins)", "12 345", "88 23-May", "1 2", "a 123"],
                &["1234.5 (mins)", "12345", "88 23-May", "1 2", "a 123"],
            ),
            (&["1,234", "12 345"], &["1,234", "12 345"]),
        ];
        for (cells, wanted) in cases {
            assert_eq!(unified(cells), wanted);
        }
    }
}
