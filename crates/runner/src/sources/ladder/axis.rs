//! A plan key with several values, and how several such keys combine.

use std::collections::BTreeMap;

use mindful_core::{Error, Result};

/// Most values of one key: more are a mistyped range.
const MOST_VALUES: u64 = 4_096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Values {
    /// `1..256`: from, to. For sessions the ladder chooses its own steps.
    Range(u64, u64),
    /// `0,20,50`, as written.
    List(Vec<String>),
}

impl Values {
    /// Reads `1..256` or `0,20,50`; `None` for a single value.
    pub(crate) fn parse(text: &str) -> Result<Option<Self>> {
        if let Some((from, to)) = text.split_once("..") {
            let ends = (from.trim().parse::<u64>(), to.trim().parse::<u64>());
            return match ends {
                (Ok(from), Ok(to)) if 1 <= from && from <= to => Ok(Some(Self::Range(from, to))),
                // Ranges of times and the like are values of their keys, not ladders.
                (Err(_), _) | (_, Err(_)) => Ok(None),
                _ => {
                    Err(Error::plan(format!("`{text}` is not a ladder"), "give a rising range from 1, such as 1..256"))
                }
            };
        }
        if !text.contains(',') {
            return Ok(None);
        }
        let values: Vec<String> = text.split(',').map(|v| v.trim().to_owned()).collect();
        if values.iter().any(String::is_empty) || values.len() as u64 > MOST_VALUES {
            return Err(Error::plan(
                format!("`{text}` is not a list of values"),
                "give values with a comma between them",
            ));
        }
        Ok(Some(Self::List(values)))
    }

    /// All values: a range doubles from its first to its last.
    pub(crate) fn all(&self) -> Vec<String> {
        match self {
            Self::Range(from, to) => doubled(*from, *to).iter().map(u64::to_string).collect(),
            Self::List(values) => values.clone(),
        }
    }
}

/// `from`, twice that, four times that…, and `to`.
pub(super) fn doubled(from: u64, to: u64) -> Vec<u64> {
    let mut values: Vec<u64> =
        std::iter::successors(Some(from.max(1)), |n| n.checked_mul(2)).take_while(|n| *n < to).collect();
    values.push(to.max(from.max(1)));
    values
}

/// A key and its values.
pub(crate) type Axis = (String, Vec<String>);

/// Every combination of the values of all keys; the last key changes fastest. Without an axis there is one empty point.
pub(crate) fn full_grid(axes: &[Axis]) -> Vec<BTreeMap<String, String>> {
    axes.iter().fold(vec![BTreeMap::new()], |points, (key, values)| {
        let with = |point: &BTreeMap<String, String>, value: &String| {
            point.clone().into_iter().chain([(key.clone(), value.clone())]).collect()
        };
        points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect()
    })
}

/// The first values of all keys together, then the second ones, and so on.
pub(crate) fn paired(axes: &[Axis]) -> Result<Vec<BTreeMap<String, String>>> {
    let Some((first, values)) = axes.first() else { return Ok(vec![BTreeMap::new()]) };
    if let Some((odd, others)) = axes.iter().find(|(_, others)| others.len() != values.len()) {
        return Err(Error::plan(
            format!("{first} has {} values, {odd} has {}", values.len(), others.len()),
            "give paired keys the same number of values, or sweep the full grid",
        ));
    }
    let point = |i: usize| axes.iter().map(|(key, values)| (key.clone(), values[i].clone())).collect();
    Ok((0..values.len()).map(point).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lists_and_plain_values_are_distinguished() {
        assert_eq!(Values::parse("1..256").unwrap(), Some(Values::Range(1, 256)));
        assert_eq!(Values::parse("0, 20,50").unwrap().unwrap().all(), ["0", "20", "50"]);
        assert_eq!(Values::parse("64").unwrap(), None);
        assert_eq!(Values::parse("10ms..50ms").unwrap(), None);
        assert_eq!(Values::Range(1, 6).all(), ["1", "2", "4", "6"]);
        for bad in ["8..1", "0..4", "1,,2"] {
            assert!(Values::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn keys_combine_as_a_grid_or_in_pairs() {
        let key_of =
            |key: &str, values: &[&str]| (key.to_owned(), values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>());
        let axes = [key_of("sessions", &["1", "2"]), key_of("update_pct", &["0", "20"])];
        assert_eq!(full_grid(&axes).len(), 4);
        assert_eq!(
            paired(&axes).unwrap()[1],
            [("sessions", "2"), ("update_pct", "20")].map(|(k, v)| (k.to_owned(), v.to_owned())).into()
        );
        assert!(paired(&[axes[0].clone(), key_of("work_unit", &["1"])]).is_err());
        assert_eq!(full_grid(&[]), [BTreeMap::new()]);
    }
}
