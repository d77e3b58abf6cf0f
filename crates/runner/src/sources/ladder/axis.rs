//! A plan key with several values, and how several such keys combine.

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
    ///
    /// # Errors
    /// A range that does not rise or does not begin at 1 or above, or an empty value in a list.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Axis {
    pub key: String,
    pub values: Vec<String>,
}

/// Every combination of the values of all keys; the last key changes fastest. Without an axis there is one empty point.
pub(crate) fn full_grid(axes: &[Axis]) -> Vec<Vec<(String, String)>> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let with = |point: &Vec<(String, String)>, value: &String| {
            point.iter().cloned().chain([(axis.key.clone(), value.clone())]).collect()
        };
        points.iter().flat_map(|point| axis.values.iter().map(move |value| with(point, value))).collect()
    })
}

/// The first values of all keys together, then the second ones, and so on.
///
/// # Errors
/// Keys with different numbers of values.
pub(crate) fn paired(axes: &[Axis]) -> Result<Vec<Vec<(String, String)>>> {
    let Some(first) = axes.first() else { return Ok(vec![Vec::new()]) };
    if let Some(odd) = axes.iter().find(|axis| axis.values.len() != first.values.len()) {
        return Err(Error::plan(
            format!("{} has {} values, {} has {}", first.key, first.values.len(), odd.key, odd.values.len()),
            "give paired keys the same number of values, or sweep the full grid",
        ));
    }
    let point = |i: usize| axes.iter().map(|axis| (axis.key.clone(), axis.values[i].clone())).collect();
    Ok((0..first.values.len()).map(point).collect())
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
        let key_of = |key: &str, values: &[&str]| Axis {
            key: key.to_owned(),
            values: values.iter().map(|v| (*v).to_owned()).collect(),
        };
        let axes = [key_of("sessions", &["1", "2"]), key_of("update_pct", &["0", "20"])];
        assert_eq!(full_grid(&axes).len(), 4);
        assert_eq!(
            paired(&axes).unwrap()[1],
            [("sessions", "2"), ("update_pct", "20")].map(|(k, v)| (k.to_owned(), v.to_owned()))
        );
        assert!(paired(&[axes[0].clone(), key_of("work_unit", &["1"])]).is_err());
        assert_eq!(full_grid(&[]), [Vec::new()]);
    }
}
