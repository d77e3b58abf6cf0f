//! The formats of other tools. Each is a file with its `Format` and a line here. Long parsers and conversions to steps
//! are in a folder of that name.

mod awr;
mod awr_info;
mod event_histogram;
mod fio;
mod flashdba;
mod format;
pub(crate) mod orion;
mod pgio_line;
mod report_row;
pub(crate) mod trace;
mod workers;

pub use format::Format;

/// All formats; the first that recognises a file reads it.
pub static FORMATS: [&Format; 10] = [
    &awr::AWR,
    &awr::STATSPACK,
    &trace::TRACE,
    &event_histogram::EVENT_HISTOGRAM,
    &orion::ORION,
    &pgio_line::PGIO_LINE,
    &fio::FIO,
    &workers::WORKERS,
    &awr_info::AWR_INFO,
    &flashdba::FLASHDBA,
];
