//! Drawings: pictures made as text, each with its title, its description, the table of its figures, and marks
//! distinguished by shape as well as by colour.

pub(crate) mod bars;
pub(crate) mod characters;
pub(crate) mod frame;
pub(crate) mod plot;
mod room;
pub(crate) mod scale;
pub(crate) mod strips;
