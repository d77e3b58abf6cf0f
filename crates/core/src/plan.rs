//! The plan: the user's settings, resolved and checked as far as possible without the target.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::contract::error::{Error, Result};
use crate::contract::slice::Placement;
use crate::dataset::{Content, Dataset, DatasetPlan, Extent, MOST_BYTES};
use crate::plan::units::{Share, format_counted, format_whole};
use crate::workload::{Access, Commit, Compatibility, HotSpot, LoopSite, Rate, Redo, Skew, ThinkTime, Workload};

mod keys;
mod parse;
pub(crate) mod price;
pub mod rights;
pub mod secret;
pub mod settings;
pub mod sweep;
pub(crate) mod text;
pub mod units;

pub use keys::{KEYS, MOST_SCHEMAS, MOST_SESSIONS, SWEEP_KEYS};
pub use price::{PRICE_PARTS, Price};
pub use settings::Bound;
pub use text::{Utf8, to_utf8};

/// All settings of a run except the engine's own options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// URL of the target as the user wrote it, with secrets: never stored or printed unmasked.
    #[serde(skip)]
    pub target: String,
    pub tag: Option<String>,
    /// Price of an hour of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    pub seed: u64,
    /// Requested number of schemas; `None`: the loaded number, or the default.
    pub schemas: Option<u32>,
    /// Requested blocks per schema; `None`: the loaded number, or the default.
    pub scale: Option<Extent>,
    pub scan_table: Extent,
    pub content: Content,
    pub load_streams: u32,
    pub sessions: u32,
    #[serde(with = "seconds")]
    pub warmup: Duration,
    #[serde(with = "seconds")]
    pub duration: Duration,
    /// Whether the step is measured until it is steady; its warm-up is then found.
    pub steady: bool,
    /// Longest time it may take to become so.
    #[serde(with = "seconds")]
    pub steady_cap: Duration,
    /// A fixed number of operations a session instead of a duration.
    pub ops: Option<u64>,
    /// Longest time a fixed amount of work may take.
    #[serde(with = "seconds")]
    pub guard: Duration,
    pub work_unit: u64,
    pub update_pct: Share,
    /// Blocks that an update visits; `None`: as many as a read.
    pub update_work_unit: Option<u64>,
    /// Share of reads that are full scans.
    pub scan_pct: Share,
    pub redo: Redo,
    pub commit: Commit,
    pub commit_wait: bool,
    /// Hot spot, in extents until the block size is known.
    pub hot_spot: Option<HotSpotPlan>,
    /// Share of operations that go to schema 1.
    pub hot_schema: Share,
    pub skew: Skew,
    pub think_time: Option<ThinkTime>,
    /// Open loop.
    pub rate: Option<Rate>,
    pub loop_site: LoopSite,
    pub compatibility: Compatibility,
    #[serde(default, skip_serializing_if = "Access::is_index")]
    pub access: Access,
    /// Whether single requests are timed at the device, where they can be.
    pub device_trace: bool,
    /// Whether the run may query the metadata service of a cloud.
    #[serde(default, skip_serializing_if = "HostFacts::is_auto")]
    pub facts: HostFacts,
    pub hooks: Hooks,
}

stored_names! {
    /// Sources of the facts of a host.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum HostFacts {
        /// The host, and on a machine of a cloud its metadata service.
        #[default]
        Auto = "auto",
        /// Only the host.
        Local = "local",
    }
}

impl HostFacts {
    /// Whether it is the default, which a record does not store.
    pub fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Before the sessions start.
    pub before: Option<String>,
    /// When they have stopped.
    pub after: Option<String>,
    /// When the result is stored.
    pub end: Option<String>,
    #[serde(with = "seconds")]
    pub timeout: Duration,
    pub failure_stops: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpotPlan {
    pub size: Extent,
    pub offset: Extent,
    /// Share of operations that go there.
    pub share: Share,
}

pub const DEFAULT_SCHEMAS: u32 = 4;

/// Default size of a schema: 256 MiB.
pub const DEFAULT_SCALE: Extent = Extent::Bytes(256 << 20);

impl Plan {
    fn check(&self) -> Result<()> {
        if self.compatibility != Compatibility::Mindful {
            self.check_compatibility()?;
        }
        if !self.access.is_index() {
            self.check_access()?;
        }
        if !self.scan_pct.is_none() && self.scan_table.blocks(1) == 0 {
            return Err(Error::plan(
                "scan_pct without a scan table",
                "load with --scan-table 64MiB, or omit --scan-pct",
            ));
        }
        Ok(())
    }

    /// Updates find their rows by the index; a scan reads all of a table, so nothing chooses among its blocks.
    fn check_access(&self) -> Result<()> {
        if !self.update_pct.is_none() {
            return Err(Error::plan(
                format!("access {} is for reads; updates use the index", self.access),
                "omit --access or --update-pct",
            ));
        }
        let chooses = self.hot_spot.is_some() || self.skew != Skew::Uniform || !self.scan_pct.is_none();
        if self.access == Access::Scan && chooses {
            return Err(Error::plan(
                "access scan reads all blocks of a schema, so hot spot, skew and scan_pct have no effect",
                "omit --access, or the other keys",
            ));
        }
        Ok(())
    }

    /// An old kit has limited ranges and mixes; refuses all others.
    fn check_compatibility(&self) -> Result<()> {
        let more = self.hot_spot.is_some()
            || self.skew != Skew::Uniform
            || !self.scan_pct.is_none()
            || !self.hot_schema.is_none()
            || !self.access.is_index();
        if more {
            return Err(Error::plan(
                "like applies an old kit's ranges and update mix, not its hot spots, skew or scans, and uses the index",
                "omit --like, or the other keys",
            ));
        }
        if self.compatibility == Compatibility::Slob && self.work_unit < 3 {
            return Err(Error::plan(
                format!("like slob with a work unit of {}", self.work_unit),
                "SLOB's smallest was 3: pass --work-unit 3 or more",
            ));
        }
        Ok(())
    }

    /// The dataset to load where `block_bytes` is the target's block length.
    pub fn dataset(&self, block_bytes: u64) -> Result<DatasetPlan> {
        let blocks = self.scale.unwrap_or(DEFAULT_SCALE).blocks(block_bytes);
        if blocks == 0 {
            return Err(Error::plan("scale is smaller than one block", format!("give at least {block_bytes}B")));
        }
        let dataset = DatasetPlan {
            schemas: self.schemas.unwrap_or(DEFAULT_SCHEMAS),
            blocks_per_schema: blocks,
            scan_blocks: self.scan_table.blocks(block_bytes),
            content: self.content,
            seed: self.seed,
            load_streams: self.load_streams,
        };
        match dataset.bytes(block_bytes) {
            Some(_) => Ok(dataset),
            None => Err(Error::plan(
                format!("{} schemas of {blocks} blocks are larger than any dataset", dataset.schemas),
                format!("pass a smaller --scale or fewer --schemas: {} is the limit", units::format_bytes(MOST_BYTES)),
            )),
        }
    }

    /// The workload on the `loaded` dataset; refuses a workload that does not fit it.
    pub fn workload(&self, loaded: &Dataset) -> Result<Workload> {
        let schemas = self.schemas.unwrap_or(loaded.schemas);
        if schemas > loaded.schemas {
            return Err(Error::plan(
                format!("the plan needs {schemas} schemas, but {} are loaded", loaded.schemas),
                format!("run with --schemas {}, or `mindful load --schemas {schemas}`", loaded.schemas),
            ));
        }
        let scale = self.scale.map_or(loaded.blocks_per_schema, |s| s.blocks(loaded.block_bytes));
        let held = format_whole(loaded.blocks_per_schema);
        if scale > loaded.blocks_per_schema {
            return Err(Error::plan(
                format!("the plan needs {} in each schema, but {held} are loaded", format_counted(scale, "block")),
                format!("run with --scale {}, or `mindful cleanup` and load again", loaded.blocks_per_schema),
            ));
        }
        let of_all = self.access == Access::Scan;
        let work_unit = if of_all { scale } else { self.work_unit };
        let update_work_unit = self.update_work_unit.filter(|_| !of_all).unwrap_or(work_unit);
        for (name, unit) in [("work_unit", work_unit), ("update_work_unit", update_work_unit)] {
            let spans = match self.compatibility {
                Compatibility::Mindful => unit,
                // An old kit kept its keys a work unit away from the ends.
                Compatibility::Slob | Compatibility::Pgio => unit.saturating_mul(2).saturating_add(1),
            };
            if spans > scale {
                return Err(Error::plan(
                    format!("{name} {unit} is larger than the scale of {}", format_counted(scale, "block")),
                    format!("pass --{} {scale} or less", name.replace('_', "-")),
                ));
            }
        }
        if !self.scan_pct.is_none() && loaded.scan_blocks == 0 {
            return Err(Error::plan(
                "scan_pct, but no scan table is loaded",
                "`mindful load --scan-table 64MiB` first",
            ));
        }
        if of_all && scale < loaded.blocks_per_schema {
            return Err(Error::plan(
                format!("access scan reads all {held} blocks of a schema, but the plan has {}", format_whole(scale)),
                "omit --scale, or `mindful cleanup` and load as much as the scans need",
            ));
        }
        let hot_spot = self
            .hot_spot
            .map(|spot| spot.resolve(loaded.block_bytes, scale, work_unit.max(update_work_unit)))
            .transpose()?;
        Ok(Workload {
            seed: self.seed,
            schemas,
            scale,
            work_unit,
            update_pct: self.update_pct,
            update_work_unit,
            scan_pct: if of_all { Share::ALL } else { self.scan_pct },
            redo: self.redo,
            commit: self.commit,
            commit_wait: self.commit_wait,
            hot_spot,
            hot_schema: self.hot_schema,
            skew: self.skew,
            think_time: self.think_time,
            rate: self.rate,
            loop_site: self.loop_site,
            compatibility: self.compatibility,
            access: self.access,
            spread_sessions: self.spread_sessions(schemas),
        })
    }

    /// See [`Workload::spread_sessions`]: if sessions are not a multiple of `schemas`, they are spread over all of them.
    /// Sessions of an old kit stay in their own schemas. So do sessions that hold locks from one update to the next,
    /// because they would deadlock.
    fn spread_sessions(&self, schemas: u32) -> Option<u32> {
        let holds_locks = self.commit != Commit::Each && !self.update_pct.is_none();
        let own = self.compatibility != Compatibility::Mindful || holds_locks || self.sessions.is_multiple_of(schemas);
        (!own).then_some(self.sessions)
    }

    /// Blocks of each schema that operations can visit, in the `loaded` dataset or else in the planned one; 0 without
    /// blocks.
    pub fn blocks_visited(&self, loaded: Option<&Dataset>, block_bytes: u64) -> u64 {
        match (self.scale, loaded) {
            (None, Some(loaded)) => loaded.blocks_per_schema,
            (scale, _) => scale.unwrap_or(DEFAULT_SCALE).blocks(block_bytes),
        }
    }

    /// Bytes that all sessions together can visit in their schemas: the size that a shared cache would need.
    pub fn active_bytes(&self, loaded: Option<&Dataset>, block_bytes: u64) -> u64 {
        let schemas = self.schemas.or(loaded.map(|loaded| loaded.schemas)).unwrap_or(DEFAULT_SCHEMAS);
        let visited = u64::from(schemas.min(self.sessions.max(1)));
        visited * self.blocks_visited(loaded, block_bytes) * block_bytes
    }

    /// Whether operations visit all these blocks equally often.
    pub fn visits_evenly(&self) -> bool {
        self.skew == Skew::Uniform && self.hot_spot.is_none() && self.hot_schema.is_none()
    }

    /// Longest warm-up and window of a step; one that ends by its data has all its time in its window.
    pub fn spans(&self) -> (Duration, Duration) {
        match (self.ops, self.steady) {
            (Some(_), _) => (Duration::ZERO, self.guard),
            (None, true) => (Duration::ZERO, self.steady_cap),
            (None, false) => (self.warmup, self.duration),
        }
    }

    /// The placements of all sessions: schemas and endpoints in turn, so that each has its even share.
    pub fn placements(&self, schemas: u32, endpoints: u32) -> Vec<Placement> {
        (0..self.sessions)
            .map(|session| Placement {
                session,
                sessions: self.sessions,
                schema: session % schemas.max(1) + 1,
                endpoint: (session % schemas.max(1)) % endpoints.max(1),
            })
            .collect()
    }
}

impl HotSpotPlan {
    fn resolve(self, block_bytes: u64, scale: u64, work_unit: u64) -> Result<HotSpot> {
        let (blocks, offset) = (self.size.blocks(block_bytes), self.offset.blocks(block_bytes));
        if blocks == 0 || offset.saturating_add(blocks) > scale {
            return Err(Error::plan(
                format!("the hot spot of {blocks} blocks at {offset} lies outside the scale of {scale} blocks"),
                "pass a smaller --hot-spot-size or --hot-spot-offset",
            ));
        }
        if work_unit > blocks {
            return Err(Error::plan(
                format!("work_unit {work_unit} does not fit into the hot spot of {blocks} blocks"),
                "pass a larger --hot-spot-size or a smaller --work-unit",
            ));
        }
        Ok(HotSpot { blocks, offset, share: self.share })
    }
}

mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_f64(duration.as_secs_f64())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Duration, D::Error> {
        f64::deserialize(d).map(|s| Duration::try_from_secs_f64(s).unwrap_or(Duration::ZERO))
    }
}
