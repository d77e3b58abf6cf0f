//! What a step did in its measured window, in figures.

pub mod blocks;
pub mod caps;
pub mod choices;
pub(crate) mod circumstances;
pub mod cliff;
pub mod columns;
pub mod counters;
pub mod cpu;
pub mod device;
pub mod floors;
pub mod foreign_writes;
pub mod heat;
pub mod latency;
pub mod log;
pub mod others;
pub mod pace;
pub mod published;
pub mod ranks;
pub mod rates;
pub mod scheduler;
pub mod seconds;
pub mod shares;
pub mod stalls;
pub mod waits;
pub mod window;
pub mod work;
