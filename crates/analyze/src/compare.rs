//! Is B really faster than A? The unit is the run, the answer a ratio with an interval, and a verdict with a margin.
//!
//! Ratios are candidate by baseline, computed on logarithms. So swapping the sides turns a ratio of 1.25 into exactly
//! 1/1.25, and a margin of 3 % reaches from 1/1.03 to 1.03.

mod answer;
mod bootstrap;
pub mod comparable;
mod curve;
mod figure;
mod gate;
mod history;
mod machines;
mod order;
mod percentile;
mod power;
pub mod provenance;
mod ranking;
mod shift;
mod sides;
mod student;

pub use answer::{Basis, Comparison, NoiseFloor, Question, RunValue, Side, Verdict};
pub use curve::{CurveComparison, CurveRatio, curves};
pub use figure::{ComparedFigure, OrderedBy, run_value};
pub use gate::{Gate, GateOutcome};
pub use history::{History, LevelChange};
pub use machines::{MachineSpread, OutlyingMachine, compare_runs, spread as machine_spread};
pub use percentile::PercentileShift;
pub use power::{can_tell, detectable_effect, runs_needed, runs_to_rank, runs_to_tell};
pub use ranking::Ranking;
pub use ranking::rank::{Ranks, SideValues};
pub use ranking::run::NamedSide;
pub use ranking::table::{RunTable, TableRow, table};
pub use sides::{ComparedPoint, ComparedSides, Sides, compared_run, price_ratio, value_of_run};

pub use crate::stats::interval::Interval;
