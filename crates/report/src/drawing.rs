//! Drawings: pictures made as text, each with its title, its description, the table behind it and its marks distinguished by
//! shape as well as by colour.

pub mod bars;
pub mod characters;
pub mod frame;
pub(crate) mod plot;
mod room;
pub mod scale;
pub mod strips;
