//! Limits of volume, instance or control group that held the storage.

use mindful_core::finding::codes;
use mindful_core::result::Finding;

use crate::figures::caps::Cap;

/// Names each limit that was reached, with how long or how far.
pub fn reached(caps: &[Cap]) -> Option<Finding> {
    let reported: Vec<_> = caps.iter().filter(|cap| cap.tells()).map(Cap::in_words).collect();
    let text = "A limit that the storage is sold or configured with was reached: for that time the figure is the limit's. A \
                larger volume, instance or limit raises it, more sessions do not.";
    (!reported.is_empty()).then(|| codes::STORAGE_CAP.finding(text, reported.join("; ")))
}
