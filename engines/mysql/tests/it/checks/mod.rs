//! What is reported or refused before anything runs.

mod privileges;
pub mod refused;
