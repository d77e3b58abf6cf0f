//! The arithmetic of a slice's block in Rust, line by line as in `sql/slice/block.sql`: the expected answer of a
//! server.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_oracle::bucket;

pub(crate) trait Server {
    /// Now, us since the epoch.
    fn now_us(&mut self) -> i64;
    fn sleep_us(&mut self, us: i64);
    /// Carries out an operation and returns the blocks it visited; `None` ends the block with an error.
    fn operate(&mut self, what: u32, slot: u32, first: i64, last: i64) -> Option<u64>;
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub ops: Vec<u8>,
    pub entry_bytes: usize,
    /// Do not begin before.
    pub begin_us: i64,
    /// Begin no operation at or after.
    pub end_us: i64,
    pub since_us: i64,
    /// When it ends; 0 for none.
    pub until_us: i64,
    pub pending: i64,
    /// Commits after so many updates; 0 for each of them, or for none if it is `later`.
    pub every: i64,
    /// An update does not commit at once.
    pub later: bool,
}

/// Latencies counted by kind and microsecond are kept below this.
const KIND: i64 = 536_870_912;
const LONG_US: i64 = 100_000;

/// Runs the block: its answer, or `None` if an operation failed.
pub(crate) fn answer(order: &Order, server: &mut dyn Server) -> Option<String> {
    let word = |at: usize| i64::from(i32::from_be_bytes(order.ops[at..at + 4].try_into().unwrap_or_default()));
    let (mut since, mut until, mut pending) = (order.since_us, order.until_us, order.pending);
    let (mut blocks, mut sums, mut longest) = ([0_u64; 3], [0_i64; 3], [0_i64; 3]);
    let mut counts: BTreeMap<i64, u64> = BTreeMap::new();
    let (mut done, mut think, mut long) = (0, 0, String::new());
    let mut now = server.now_us();
    if order.begin_us - now > 30_000 {
        server.sleep_us(order.begin_us - now - 20_000);
    }
    loop {
        now = server.now_us();
        if now >= order.begin_us {
            break;
        }
    }
    let began = now;
    while done < order.ops.len() / order.entry_bytes {
        if until > 0 {
            let stop = until.min(order.end_us);
            while now < stop {
                server.sleep_us((stop - now).max(10_000));
                now = server.now_us();
            }
            think += (now.min(order.end_us) - since).max(0);
            if now.max(until) >= order.end_us {
                since = since.max(order.end_us);
                break;
            }
            until = 0;
        }
        if now >= order.end_us {
            break;
        }
        let at = done * order.entry_bytes;
        let (first, what) = (word(at), word(at + 8) % 4);
        let started = now;
        let seen = server.operate(what as u32, (word(at + 8) / 4) as u32, first, first + word(at + 4))?;
        if what == 1 && order.later {
            pending += 1;
            if order.every > 0 && pending >= order.every {
                pending = 0;
            }
        }
        now = server.now_us();
        let us = (now - started).clamp(0, KIND - 1);
        *counts.entry(what * KIND + us).or_default() += 1;
        let kind = what as usize;
        blocks[kind] += seen;
        sums[kind] += us;
        longest[kind] = longest[kind].max(us);
        if us >= LONG_US && long.len() < 3_900 {
            let _ = write!(long, "{what}:{started}:{us} ");
        }
        done += 1;
        if order.entry_bytes > 12 && word(at + 12) > 0 {
            since = now;
            until = now + word(at + 12);
        }
    }
    let mut text = format!("{done} {began} {now} {since} {until} {think} {pending};");
    for kind in 0..3 {
        let _ = write!(text, "{} {} {};", blocks[kind], sums[kind], longest[kind]);
    }
    let _ = write!(text, "{long};{}", packed(&counts));
    Some(text)
}

/// Counts by kind and microsecond as counts by kind and bucket.
fn packed(counts: &BTreeMap<i64, u64>) -> String {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for (place, count) in counts {
        let (kind, us) = ((place / KIND).unsigned_abs(), (place % KIND).unsigned_abs());
        *buckets.entry(kind * bucket::OF_KIND + bucket_number(us)).or_default() += count;
    }
    let words: Vec<String> = buckets.iter().map(|(bucket, count)| format!("{bucket}:{count}")).collect();
    words.join(" ")
}

/// The bucket of a latency of `us`, as computed by `sql/slice/block.sql`.
pub(crate) fn bucket_number(us: u64) -> u64 {
    let ns = us * 1_000;
    let (mut width, mut power) = (1, 0);
    while ns >= 256 * width {
        width *= 2;
        power += 1;
    }
    power * 128 + ns / width
}
