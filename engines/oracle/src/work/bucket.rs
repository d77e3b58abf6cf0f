//! The buckets that the slice's block counts latencies in: those of core's histogram, by whole numbers alone.
//!
//! A latency of `ns` lies in octave `power`, the first for which `ns < 256 * 2^power`; there a bucket is `2^power` wide.
//! Its number is `power * 128 + ns / 2^power`.

/// Numbers of one kind of operation; the next kind's begin here.
pub(crate) const OF_KIND: u64 = 5_000;

/// The bucket of a latency of `us`, as `sql/slice/block.sql` finds it.
pub(crate) fn number(us: u64) -> u64 {
    let ns = us * 1_000;
    let (mut width, mut power) = (1, 0);
    while ns >= 256 * width {
        width *= 2;
        power += 1;
    }
    power * 128 + ns / width
}

/// The least latency of a bucket, ns.
pub(crate) fn least_ns(number: u64) -> u64 {
    if number < 256 {
        return number;
    }
    let power = number / 128 - 1;
    (number - power * 128) << power.min(63)
}

#[cfg(test)]
mod tests {
    use mindful_core::record::latency::Recorder;

    use super::*;

    /// What core's histogram tells for a latency.
    fn of_core(ns: u64) -> u64 {
        let mut recorder = Recorder::new();
        recorder.record(ns);
        recorder.drain().buckets.iter().next().unwrap().0
    }

    #[test]
    fn its_borders_are_those_of_cores_histogram() {
        let mut us = 1;
        while us < 536_870_911 {
            for us in [us - 1, us, us + 1] {
                let exact = (us * 1_000).max(1);
                let bucketed = least_ns(number(us)).max(1);
                assert_eq!(of_core(bucketed), of_core(exact), "{us} us");
                assert!(bucketed <= exact && number(us) < OF_KIND, "{us} us");
            }
            us += 1 + us / 61;
        }
    }

    #[test]
    fn the_numbers_never_change() {
        for (us, bucket) in
            [(0, 0), (1, 506), (128, 1_402), (1_000, 1_780), (20_000, 2_328), (1_000_000, 3_054), (536_870_911, 4_217)]
        {
            assert_eq!(number(us), bucket, "{us} us");
        }
    }
}
