//! The steps of a sweep and their order: pure functions from the measurements so far to the next step.
//!
//! Calls do not keep state, so a killed sweep continues from its stored results alone.

mod adaptive;
mod axis;
mod bisection;
mod schedule;
#[cfg(test)]
mod walked_test;

pub(crate) use adaptive::{Adaptive, Measured};
pub(crate) use axis::{Axis, Values, full_grid, paired};
pub(crate) use bisection::{Bisection, Move, Trial};
pub(crate) use schedule::{Budgeted, Slot, schedule, within};
