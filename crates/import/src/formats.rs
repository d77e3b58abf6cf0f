//! The formats of other tools: each is a file with its `Format`, what reads it and what makes steps of it in a folder of that
//! name where they are long, and a line here.

use crate::format::Format;
use crate::{awr, awr_info, event_histogram, fio, flashdba, orion, pgio_line, statspack, trace, workers};

/// All formats; the first that recognises a file reads it.
pub static FORMATS: [&dyn Format; 10] = [
    &awr::Awr,
    &statspack::Statspack,
    &trace::Trace,
    &event_histogram::EventHistogram,
    &orion::Orion,
    &pgio_line::PgioLine,
    &fio::Fio,
    &workers::Workers,
    &awr_info::AwrInfo,
    &flashdba::Flashdba,
];
