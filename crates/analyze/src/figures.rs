//! Figures of a step in its measured window.

pub mod blocks;
pub(crate) mod caps;
pub(crate) mod choices;
pub(crate) mod circumstances;
pub(crate) mod cliff;
pub mod columns;
pub(crate) mod counters;
pub mod cpu;
pub mod device;
pub(crate) mod floors;
pub(crate) mod foreign_writes;
pub mod heat;
pub mod latency;
pub mod log;
pub(crate) mod others;
pub(crate) mod pace;
pub(crate) mod published;
pub mod ranks;
pub mod rates;
pub mod seconds;
pub mod shares;
pub(crate) mod stalls;
pub(crate) mod waits;
pub mod window;
pub mod work;
