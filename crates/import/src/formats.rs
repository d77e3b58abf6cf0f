//! The formats of other tools: each is a folder with the same three files, and a line here.

use crate::format::Format;
use crate::{awr, event_histogram, fio, orion, pgio_line, statspack, trace, workers};

/// All formats; the first that recognises a file reads it.
pub static FORMATS: [&dyn Format; 8] = [
    &awr::Awr,
    &statspack::Statspack,
    &trace::Trace,
    &event_histogram::EventHistogram,
    &orion::Orion,
    &pgio_line::PgioLine,
    &fio::Fio,
    &workers::Workers,
];
