//! The latency buckets of a slice's block: those of core's histogram, in integer arithmetic.
//!
//! A latency of `ns` is in octave `power`, the first for which `ns < 256 * 2^power`; there a bucket is `2^power` wide.
//! Its number is `power * 128 + ns / 2^power`.

/// Numbers of one kind of operation; the next kind's begin here.
pub const OF_KIND: u64 = 5_000;

pub fn least_ns(number: u64) -> u64 {
    if number < 256 {
        return number;
    }
    let power = number / 128 - 1;
    (number - power * 128) << power.min(63)
}
