//! Why numbers of a record enter no figure.

/// Numbers that no figure uses: their places, and the reasons.
pub(crate) const REASONS: [(&str, &str); 12] = [
    ("slice, sample", OUTSIDE),
    ("head.plan, step", PLAN),
    ("sample", FELL),
    ("started, slice", TIMES),
    ("slice", SERVICE),
    ("slice", SESSION),
    ("slice", FOREIGN),
    ("latencies", REQUESTS),
    ("busiest, watched", OTHERS),
    ("hook", HOOK),
    ("rank, spans", RANK),
    ("on_target", TARGET),
];

pub(super) const OUTSIDE: &str = "slices and readings outside the measured window";
pub(super) const PLAN: &str = "numbers of the plan that do not follow from the settings, such as those of a contrast";
pub(super) const FELL: &str = "readings of a counter that fell or was read once";
pub(super) const TIMES: &str = "times of merged slices, and boundaries without a reading";
pub(super) const SERVICE: &str =
    "service times where response times are reported; their number is known, and their sum to 1 %";
pub(super) const SESSION: &str = "waits and CPU of a session, and single long operations without a stall";
pub(super) const FOREIGN: &str = "slices of another tool";
pub(super) const REQUESTS: &str = "device requests that enter no figure";
pub(super) const OTHERS: &str = "processes and circumstances that decided no finding";
pub(super) const HOOK: &str = "begin and end of a hook";
pub(super) const RANK: &str = "clocks and CPU time of a rank, and what its sessions published";
pub(super) const TARGET: &str = "one target of several; the page shows their totals";
