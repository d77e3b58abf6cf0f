//! The arithmetic of older kits, for figures that must be comparable with old ones: ranges off by one, and a mix that
//! depends on the parity of the key within cycles of 100 operations.

use super::{Compatibility, OpKind, Workload, count_starts};
use crate::workload::draw;

const CYCLE: u64 = 100;

pub(super) fn blocks(like: Compatibility, unit: u64) -> u64 {
    match like {
        Compatibility::Mindful => unit,
        // The range was open at both ends.
        Compatibility::Slob => unit.saturating_sub(1).max(1),
        // The range was closed, from `key` to `key + unit`.
        Compatibility::Pgio => unit + 1,
    }
}

/// The key an old kit drew for operation `index`; SLOB read downwards from it, pgio upwards.
fn drawn_key(w: &Workload, key_stream: i64, index: u64) -> u64 {
    let number = draw::draw(index, key_stream);
    match w.compatibility {
        Compatibility::Slob => w.work_unit + 1 + number % w.scale.saturating_sub(2 * w.work_unit).max(1),
        _ => 1 + number % count_starts(w.scale, w.work_unit + 1),
    }
}

pub(super) fn first_key(w: &Workload, key_stream: i64, index: u64) -> u64 {
    let key = drawn_key(w, key_stream, index);
    if w.compatibility == Compatibility::Slob { (key + 1).saturating_sub(w.work_unit).max(1) } else { key }
}

/// Whether operation `index` was an update: an even key while the cycle's quota of updates lasted; with pgio also when
/// the quota of reads was used up.
pub(super) fn kind(w: &Workload, key_stream: i64, index: u64) -> OpKind {
    let quota = u64::from(w.update_pct.hundredths()) * CYCLE / 10_000;
    let (mut updates, mut reads) = (0, 0);
    let mut last = OpKind::Select;
    for i in index - index % CYCLE..=index {
        let even = drawn_key(w, key_stream, i).is_multiple_of(2);
        let reads_used_up = w.compatibility == Compatibility::Pgio && reads == CYCLE - quota;
        last = if updates < quota && (even || reads_used_up) { OpKind::Update } else { OpKind::Select };
        if last == OpKind::Update { updates += 1 } else { reads += 1 }
    }
    last
}
