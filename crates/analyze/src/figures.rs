//! Figures of a step in its measured window.

pub mod blocks;
pub(crate) mod caps;
pub(crate) mod circumstances;
pub mod columns;
pub(crate) mod counters;
pub mod cpu;
pub(crate) mod floors;
pub(crate) mod foreign_writes;
pub mod heat;
pub mod latency;
pub mod log;
pub(crate) mod others;
pub(crate) mod pace;
pub mod ranks;
pub mod rates;
pub mod seconds;
pub mod shares;
pub(crate) mod stalls;
pub mod window;
pub mod work;
