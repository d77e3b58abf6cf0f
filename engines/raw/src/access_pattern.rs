//! Which blocks a session visits, in which order.

use std::sync::Arc;

use mindful_core::contract::slice::Placement;
use mindful_core::dataset::LayoutProof;
use mindful_core::workload::draw::{self, Permutation};
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{self, Compatibility, Op, OpKind, Skew, Workload};

use crate::options::{Large, Pattern};
use crate::space::{Place, Space};

/// The place of the block of a key: each schema is a run of blocks, and its keys are scattered over it.
#[derive(Debug)]
pub(crate) struct Layout {
    blocks_per_schema: u64,
    schemas: Vec<Permutation>,
}

impl Layout {
    pub(crate) fn new(seed: u64, schemas: u32, blocks_per_schema: u64) -> Self {
        let limit = LayoutProof::MAX_CORRELATION;
        let schemas = (1..=schemas).map(|s| Permutation::layout(blocks_per_schema, seed, s, limit)).collect();
        Self { blocks_per_schema, schemas }
    }

    /// The block, from 0, of `key` (from 1) of `schema` (from 1).
    #[inline]
    pub(crate) fn block(&self, schema: u32, key: u64) -> u64 {
        u64::from(schema - 1) * self.blocks_per_schema + self.schemas[schema as usize - 1].get(key - 1)
    }

    /// The same without the scattering: the block of the same rank.
    #[inline]
    pub(crate) fn unscattered_block(&self, schema: u32, key: u64) -> u64 {
        u64::from(schema - 1) * self.blocks_per_schema + key - 1
    }

    pub(crate) fn schema(&self, schema: u32) -> &Permutation {
        &self.schemas[schema as usize - 1]
    }

    /// Largest rank correlation, in size, of the orders of two neighbouring schemas; `None` for a single one.
    pub(crate) fn cross_correlation(&self) -> Option<f64> {
        let pairs = self.schemas.windows(2).map(|pair| pair[0].correlation_with(&pair[1]));
        pairs.max_by(|a, b| a.abs().total_cmp(&b.abs()))
    }

    pub(crate) fn schemas(&self) -> u32 {
        self.schemas.len() as u32
    }

    pub(crate) fn blocks_per_schema(&self) -> u64 {
        self.blocks_per_schema
    }
}

#[derive(Debug)]
pub(crate) struct AccessPattern {
    draws: Draws,
    /// Seed of the keys and number of starts of a range, if only a key is drawn.
    plain: Option<(i64, u64)>,
    work_unit: u64,
    layout: Arc<Layout>,
    scattered: bool,
    space: Arc<Space>,
    sequence: Option<Sequence>,
}

impl AccessPattern {
    pub(crate) fn new(
        workload: &Workload,
        placement: Placement,
        layout: Arc<Layout>,
        space: Arc<Space>,
        pattern: Pattern,
        streams: u32,
    ) -> Self {
        let draws = Draws::new(workload, placement.session, placement.schema);
        let only_keys = workload.update_pct.is_none()
            && workload.scan_pct.is_none()
            && workload.hot_spot.is_none()
            && workload.hot_schema.is_none()
            && workload.skew == Skew::Uniform
            && workload.think_time.is_none()
            && workload.compatibility == Compatibility::Mindful
            && workload.work_unit <= workload.scale;
        let starts = workload::count_starts(workload.scale, workload.work_unit);
        let plain = only_keys.then_some((draws.streams.key, starts));
        // All keys alike, one at a time: any key's block is any block, with or without the layout between.
        let scattered = !only_keys || workload.work_unit > 1 || workload.scale < layout.blocks_per_schema();
        let sequence = (pattern == Pattern::Sequential)
            .then(|| Sequence::new(space.units(), placement, streams, workload.work_unit));
        Self { draws, plain, work_unit: workload.work_unit, layout, scattered, space, sequence }
    }

    /// Operation `index`: the same as [`Draws::op`], but faster if only a key is drawn.
    #[inline]
    pub(crate) fn op(&self, index: u64) -> Op {
        let Some((stream, starts)) = self.plain else { return self.draws.op(index) };
        Op {
            index,
            kind: OpKind::Select,
            schema: self.draws.schema_share.schema(index),
            first_key: 1 + draw::draw(index, stream) % starts,
            blocks: self.work_unit,
            hot: false,
            hot_schema: false,
            think: std::time::Duration::ZERO,
        }
    }

    #[inline]
    pub(crate) fn place(&self, op: &Op, nth: u64) -> Place {
        let block = match &self.sequence {
            None if self.scattered => self.layout.block(op.schema, op.first_key + nth),
            None => self.layout.unscattered_block(op.schema, op.first_key + nth),
            Some(sequence) => sequence.unit(op.index, nth),
        };
        self.space.place(block)
    }
}

#[derive(Debug)]
pub(crate) struct LargePattern {
    stream: i64,
    space: Arc<Space>,
    sequence: Option<Sequence>,
}

impl LargePattern {
    pub(crate) fn new(seed: u64, placement: Placement, space: Arc<Space>, large: Large, streams: u32) -> Self {
        // A separate stream, so that large reads do not follow the keys of the blocks.
        let stream = draw::mix64(draw::stream_seed(seed, placement.session, draw::Purpose::Key) as u64) as i64;
        let sequence =
            (large.pattern == Pattern::Sequential).then(|| Sequence::new(space.units(), placement, streams, 1));
        Self { stream, space, sequence }
    }

    pub(crate) fn place(&self, index: u64) -> Place {
        self.space.place(match &self.sequence {
            None => draw::draw(index, self.stream) % self.space.units(),
            Some(sequence) => sequence.unit(index, 0),
        })
    }
}

/// Sequential streams: those of all sessions begin evenly spaced and wrap around.
#[derive(Debug)]
struct Sequence {
    units: u64,
    first: u64,
    all: u64,
    own: u64,
    stride: u64,
}

impl Sequence {
    fn new(units: u64, placement: Placement, streams: u32, stride: u64) -> Self {
        let own = u64::from(streams);
        Self { units, first: u64::from(placement.session) * own, all: u64::from(placement.sessions) * own, own, stride }
    }

    fn unit(&self, index: u64, nth: u64) -> u64 {
        let stream = self.first + index % self.own;
        let start = (u128::from(self.units) * u128::from(stream) / u128::from(self.all)) as u64;
        (start + index / self.own * self.stride + nth) % self.units
    }
}
