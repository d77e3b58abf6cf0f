//! Which steps a sweep takes, and in which order: pure functions from what is measured so far to what comes next.
//!
//! Nothing is remembered between calls, so a sweep that was killed goes on from its stored results alone.

mod adaptive;
mod axis;
mod bisection;
mod budget;
mod schedule;

pub use adaptive::{Adaptive, Measured, NextSessions, Reason};
pub(crate) use axis::{Axis, Values, full_grid, paired};
pub use bisection::{Bisection, Move, Trial};
pub use budget::{Budgeted, within};
pub use schedule::{Slot, schedule};
