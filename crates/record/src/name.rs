//! Names in the store: ids of runs, sortable by time and short enough to type, and the files of a run.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The events of a run, one JSON object a line.
pub const LOG: &str = "run.jsonl";

/// The figures of a run, written last.
pub const SUMMARY: &str = "summary.json";

/// Files that an imported run has in addition.
pub(crate) const IMPORTED: &str = "imported";

/// Letters that cannot be mistaken for one another.
const LETTERS: &[u8; 31] = b"23456789abcdefghijkmnpqrstuvwxy";

/// A new id, such as `20261121-013542-k7f`: UTC date and time, and three letters for the part of the second, so that runs of
/// one second keep their order.
pub(crate) fn new_id(at: Timestamp) -> String {
    let base = LETTERS.len() as u64;
    let part = u64::from(at.subsec_nanosecond().unsigned_abs()) * base.pow(3) / 1_000_000_000;
    let letter = |place: u32| char::from(LETTERS[(part / base.pow(place) % base) as usize]);
    let letters: String = [2, 1, 0].map(letter).iter().collect();
    format!("{}-{letters}", at.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S"))
}

/// Start time of the run with this id; `None` if [`new_id`] does not create such an id.
pub(crate) fn begin(id: &str) -> Option<Timestamp> {
    let (date, letters) = id.rsplit_once('-')?;
    let own = date.len() == 15 && letters.len() == 3 && letters.bytes().all(|letter| LETTERS.contains(&letter));
    let at = DateTime::strptime("%Y%m%d-%H%M%S", date).ok().filter(|_| own)?;
    at.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}

const CLOCKS_APART: SignedDuration = SignedDuration::from_mins(5);

/// Whether `at` is so late that no run can have begun then.
pub(crate) fn is_future(at: Timestamp) -> bool {
    at.duration_since(Timestamp::now()) > CLOCKS_APART
}

/// Whether `id` is a valid name of a run's folder: an id of a foreign run must not lead out of the store.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len())
        && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        && !id.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time() {
        let in_second = |ns| new_id(Timestamp::new(1_800_000_000, ns).unwrap());
        let ids: Vec<_> = [0, 40_000, 500_000_000, 999_960_000, 999_999_999].map(in_second).to_vec();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        assert_eq!(begin(&ids[0]), Some(Timestamp::from_second(1_800_000_000).unwrap()));
    }

    #[test]
    fn an_id_never_leaves_the_store() {
        for bad in ["", "..", "a/b", "a\\b", "/etc", "a\0", "-rf", "a b"] {
            assert!(!is_id(bad), "{bad:?}");
        }
    }
}
