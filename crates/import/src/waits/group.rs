//! Waits in groups, by their share of the time.

use std::collections::HashMap;

use mindful_core::result::trace::{GroupFigures, ReadFigures, TraceSummary};
use mindful_oracle_terms::{self as oracle, event};

use super::distribution::Distribution;
use super::fields::{Field, Filter, Wait};

/// Most groups; later ones are in one group.
const MOST: usize = 1 << 14;
/// Most different latencies kept in all groups together, about 50 bytes each; later ones are rounded.
const MOST_KEPT: usize = 1 << 21;
const OTHERS: &str = "(others)";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WaitKind {
    Single,
    /// Neighbouring blocks.
    Scattered,
    /// Blocks that are not neighbours, at once: prefetch.
    Parallel,
    /// Past the cache.
    Direct,
}

impl WaitKind {
    const ALL: [Self; 4] = [Self::Single, Self::Scattered, Self::Parallel, Self::Direct];

    const fn name(self) -> &'static str {
        match self {
            Self::Single => "single block",
            Self::Scattered => "several neighbours",
            Self::Parallel => "parallel (prefetch)",
            Self::Direct => "direct path",
        }
    }

    /// Kind of read of `wait`; `None` for other waits.
    pub(crate) fn of(wait: &Wait<'_>) -> Option<Self> {
        match oracle::counterpart(std::str::from_utf8(wait.event).ok()?) {
            // Old releases read several blocks under this name now and then.
            event::SINGLE_READ if wait.blocks(None).is_some_and(|blocks| blocks > 1) => Some(Self::Scattered),
            event::SINGLE_READ => Some(Self::Single),
            event::SCATTERED_READ => Some(Self::Scattered),
            event::PARALLEL_READ => Some(Self::Parallel),
            event::DIRECT_READ | event::DIRECT_READ_TEMP => Some(Self::Direct),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
pub struct Grouped {
    fields: Vec<Field>,
    filter: Filter,
    places: HashMap<String, usize>,
    last: (Vec<u8>, usize),
    /// Their keys and latencies.
    groups: Vec<(String, Distribution)>,
    key: String,
    /// Different latencies in all groups together, and most of them.
    kept: usize,
    most_kept: usize,
    /// The length of a block, where a wait showed it.
    block_bytes: Option<u64>,
    all: Distribution,
    reads: [(Distribution, Blocks); 4],
    /// Waits in the trace, whether they passed or not.
    waits: u64,
    pub(crate) damaged_lines: u64,
    pub(crate) zero_bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Reads that show their blocks. A smart scan does not: it sends rows.
    reads: u64,
    counted: u64,
    /// Number of reads that show bytes instead, and these bytes.
    reads_in_bytes: u64,
    bytes: u64,
}

impl Blocks {
    pub(crate) fn add(&mut self, wait: &Wait<'_>) {
        // A read of one block shows its bytes only for the length of a block.
        match (wait.blocks(None), wait.bytes()) {
            (Some(blocks), _) => {
                self.reads += 1;
                self.counted = self.counted.saturating_add(blocks);
            }
            (None, Some(bytes)) => {
                self.reads_in_bytes += 1;
                self.bytes = self.bytes.saturating_add(bytes);
            }
            (None, None) => {}
        }
    }

    /// All blocks of `block_bytes`; `None` if no read shows any, or only bytes and the length of a block is unknown.
    pub(crate) fn total(self, block_bytes: Option<u64>) -> Option<u64> {
        match (self.reads + self.reads_in_bytes, self.reads_in_bytes) {
            (0, _) => None,
            (_, 0) => Some(self.counted),
            _ => Some(self.counted.saturating_add(self.bytes / block_bytes?)),
        }
    }

    fn each(self, block_bytes: Option<u64>) -> Option<f64> {
        Some(self.total(block_bytes)? as f64 / (self.reads + self.reads_in_bytes) as f64)
    }
}

impl Grouped {
    /// An empty set of groups. A block is `block_bytes` long, if the begin of the trace shows it.
    pub(crate) fn new(fields: &[Field], filter: &Filter, block_bytes: Option<u64>) -> Self {
        Self {
            fields: fields.to_vec(),
            filter: filter.clone(),
            last: (Vec::new(), usize::MAX),
            most_kept: MOST_KEPT,
            block_bytes,
            ..Self::default()
        }
    }

    pub(crate) fn add(&mut self, wait: &Wait<'_>) {
        self.waits += 1;
        self.block_bytes = self.block_bytes.or_else(|| wait.block_bytes());
        if !self.filter.passes(wait, self.block_bytes) {
            return;
        }
        self.all.add(wait.ela_us);
        if let Some(kind) = WaitKind::of(wait) {
            let (latencies, blocks) = &mut self.reads[kind as usize];
            latencies.add(wait.ela_us);
            blocks.add(wait);
        }
        let at = self.place(wait);
        let (_, latencies) = &mut self.groups[at];
        if self.kept < self.most_kept {
            self.kept += usize::from(latencies.add(wait.ela_us));
        } else {
            latencies.add_rounded(wait.ela_us);
        }
    }

    /// Whether there were so many different latencies that those of groups were rounded, down by up to an eighth.
    fn rounded(&self) -> bool {
        self.kept >= self.most_kept
    }

    fn place(&mut self, wait: &Wait<'_>) -> usize {
        let by_event = matches!(self.fields[..], [field] if field.is_event());
        if by_event && self.last.1 != usize::MAX && self.last.0 == wait.event {
            return self.last.1;
        }
        self.key.clear();
        for (i, field) in self.fields.iter().enumerate() {
            if i > 0 {
                self.key.push_str(" | ");
            }
            field.write(wait, self.block_bytes, &mut self.key);
        }
        let known = self.places.get(&self.key).copied();
        let at = known.unwrap_or_else(|| {
            let name = if self.groups.len() < MOST { self.key.as_str() } else { OTHERS };
            let groups = &mut self.groups;
            *self.places.entry(name.to_owned()).or_insert_with(|| {
                groups.push((name.to_owned(), Distribution::default()));
                groups.len() - 1
            })
        });
        if by_event {
            self.last = (wait.event.to_vec(), at);
        }
        at
    }

    pub fn summary(&self, file: &str) -> TraceSummary {
        let fields: Vec<_> = self.fields.iter().map(|field| field.name).collect();
        let reads = WaitKind::ALL.iter().map(|kind| {
            let (latencies, blocks) = &self.reads[*kind as usize];
            // Kinds that were not read have no blocks; an unknown number is null.
            let none = (latencies.count == 0).then_some(0);
            ReadFigures {
                kind: kind.name().to_owned(),
                blocks: none.or(blocks.total(self.block_bytes)),
                blocks_per_read: blocks.each(self.block_bytes),
                figures: latencies.figures(),
            }
        });
        let group =
            |(key, latencies): &(String, Distribution)| GroupFigures { key: key.clone(), figures: latencies.figures() };
        TraceSummary {
            file: file.to_owned(),
            group_by: fields.join(" | "),
            waits_in_trace: self.waits,
            damaged_lines: self.damaged_lines,
            zero_bytes: self.zero_bytes,
            groups_exact: !self.rounded(),
            all: self.all.figures(),
            reads: reads.collect(),
            groups: self.by_time().into_iter().map(group).collect(),
        }
    }

    fn by_time(&self) -> Vec<&(String, Distribution)> {
        let mut groups: Vec<_> = self.groups.iter().collect();
        groups.sort_by(|(a, of_a), (b, of_b)| of_b.time_us.cmp(&of_a.time_us).then_with(|| a.cmp(b)));
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_take_bounded_memory_and_lose_no_wait() {
        let fields = Field::parse_list("block").unwrap();
        let mut grouped = Grouped::new(&fields, &Filter::default(), None);
        grouped.most_kept = 50_000;
        let waits = 150_000;
        for i in 0..waits {
            let parameters = [None, Some((&b"block#"[..], i % 20_000)), None];
            let wait = Wait {
                cursor: 1,
                event: b"db file sequential read",
                ela_us: i * 3,
                parameters,
                object: None,
                tim_us: None,
            };
            grouped.add(&wait);
        }
        assert!(grouped.rounded() && grouped.kept == 50_000);
        let groups = grouped.by_time();
        assert_eq!((groups.len(), groups[0].0.as_str()), (MOST + 1, OTHERS));
        let kept: usize = groups.iter().map(|(_, latencies)| latencies.values().count()).sum();
        assert!(kept < 50_000 + groups.len() * 10, "{kept}");
        assert_eq!(groups.iter().map(|(_, latencies)| latencies.count).sum::<u64>(), waits);
        assert_eq!(grouped.all.count, waits);
    }
}
