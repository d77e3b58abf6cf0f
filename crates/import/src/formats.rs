//! The formats of other tools: each is a file with its `Format`, what reads it and what makes steps of it in a folder
//! of that name where they are long, and a line here.

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
pub static FORMATS: [&dyn Format; 10] = [
    &awr::Awr,
    &awr::Statspack,
    &trace::Trace,
    &event_histogram::EventHistogram,
    &orion::Orion,
    &pgio_line::PgioLine,
    &fio::Fio,
    &workers::Workers,
    &awr_info::AwrInfo,
    &flashdba::Flashdba,
];
