//! What is reported or refused before anything runs.

mod privileges;
pub(crate) mod refused;
