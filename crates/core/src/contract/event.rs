//! Events of a run, in order. The same values are shown live, written to the run folder and read back.

use serde::{Deserialize, Serialize};

use crate::contract::description::{AccessPath, Description, HostView};
use crate::contract::metric::{Metric, Phase, ProcessCpu};
use crate::contract::slice::SliceReport;
use crate::dataset::{Dataset, LayoutProof};
use crate::record::head::{Facts, HookRecord, RunHead, StepHead, Watched};
use crate::record::latency::SampledLatencies;
use crate::record::rank_record::{MergedSlice, RankRecord, Spans};
use crate::result::finding::Finding;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "events are handed on one by one, never kept in bulk")]
pub enum Event {
    /// The first line of a run.
    Head(RunHead),
    /// The host: kernel, CPU, memory, file system, device.
    Environment {
        /// Facts by their keys.
        facts: Facts,
    },
    /// The target as it is described.
    Described {
        /// Identity and settings of the target.
        description: Description,
        /// Processes and paths of the target on this host.
        host: HostView,
    },
    /// The dataset is loaded.
    Loaded {
        /// The dataset in use.
        dataset: Dataset,
        /// Duration of the load, s; `None` if the dataset existed already.
        load_s: Option<f64>,
    },
    /// The layout of the dataset is proven.
    Proven {
        /// The proof of the layout.
        proof: LayoutProof,
    },
    /// How operations are carried out.
    Shapes {
        /// One for each kind of operation.
        shapes: Vec<AccessPath>,
    },
    /// A step begins.
    Step(StepHead),
    /// A session is connected and warm.
    Ready {
        /// Number of ready sessions.
        ready: u32,
        /// Number of sessions.
        of: u32,
    },
    /// All sessions were released; the boundaries of all slices are decided.
    Started {
        /// Boundaries of slices on the engine's clock, us since the epoch: one more than there are slices.
        boundaries_us: Vec<i64>,
        /// Engine clock minus this host's clock, us.
        clock_offset_us: i64,
    },
    /// A session ended a slice.
    Slice {
        /// Session number, from 0.
        session: u32,
        /// The work of the slice.
        report: SliceReport,
    },
    /// A sampler introduces itself.
    Source {
        /// Name of the source.
        source: String,
        /// Its metrics, in the order of values.
        metrics: Vec<Metric>,
        /// When it is read.
        phase: Phase,
    },
    /// A sampler was read.
    Sample {
        /// Name of the source.
        source: String,
        /// Its boundary of slices: 0 is the start.
        boundary: u32,
        /// When it was read, us since the epoch on this host's clock.
        at_us: i64,
        /// Duration of the reading, us.
        cost_us: u64,
        /// One value a metric; `None` if unknown.
        values: Vec<Option<f64>>,
    },
    /// A sampler reports the latencies that it timed since its previous reading.
    Latencies {
        /// Name of the source.
        source: String,
        /// The boundary of slices up to which they were timed.
        boundary: u32,
        /// The sampled latencies.
        sampled: SampledLatencies,
    },
    /// A sampler reports which processes outside the run used the most CPU since its previous reading.
    Busiest {
        /// Name of the source.
        source: String,
        /// The boundary of slices up to which they used it.
        boundary: u32,
        /// The busiest first.
        processes: Vec<ProcessCpu>,
    },
    /// Circumstances that figures depend on: all of a source at its first reading, later only changes.
    Watched(Watched),
    /// A rank that takes part in the step.
    Rank(RankRecord),
    /// When sessions were at work, where slices were stored merged.
    Spans(Spans),
    /// A slice of several sessions, merged.
    MergedSlice(MergedSlice),
    /// The measured part of the step, if the data decided it.
    Window {
        /// The boundary of slices at its begin.
        first: u32,
        /// The boundary of slices at its end.
        last: u32,
    },
    /// The step ended.
    StepEnd {
        /// The first error of a session, if any.
        error: Option<String>,
        /// Whether it was interrupted.
        interrupted: bool,
    },
    /// A condition that affects the use of the result.
    Finding(Finding),
    /// A remark on the way, for the terminal and the record.
    Note {
        /// The remark, one line.
        text: String,
    },
    /// A hook of the user's ran, before all steps or after them.
    Hook(HookRecord),
    /// Work of known size makes progress.
    Progress {
        /// The activity: `loading`, `fetching PostgreSQL 18.6`.
        what: String,
        /// Amount that is done.
        done: u64,
        /// Total amount; 0 if unknown.
        of: u64,
        /// Unit of both: `bytes` or `1`.
        unit: String,
    },
    /// An event of one target in a run of several targets.
    OnTarget {
        /// Number of the target, from 0.
        target: u32,
        /// The event.
        what: Box<Event>,
    },
    /// The last line of a run that ended or was interrupted.
    Finished {
        /// Whether a signal ended it.
        interrupted: bool,
        /// Cause of a failure, if any.
        error: Option<String>,
    },
}

/// Takes events, from any thread.
pub trait Events: Send + Sync {
    /// Something happened.
    fn emit(&self, event: Event);

    /// Other output follows: remove transient output.
    fn quiet(&self) {}
}

/// Emits `text` as an [`Event::Note`].
pub fn emit_note(events: &dyn Events, text: impl Into<String>) {
    events.emit(Event::Note { text: text.into() });
}

/// Drops all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl<F: Fn(Event) + Send + Sync> Events for F {
    fn emit(&self, event: Event) {
        self(event);
    }
}

impl Events for Silent {
    fn emit(&self, _: Event) {}
}
