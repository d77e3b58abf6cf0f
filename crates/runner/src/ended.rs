//! A run that has ended and is stored.

use mindful_analyze::Analysis;
use mindful_core::Error;
use mindful_core::record::run::Run;

pub struct Ended {
    /// The run as it was read back from its folder.
    pub run: Run,
    pub analysis: Analysis,
    pub error: Option<Error>,
    pub interrupted: bool,
    /// Whether the result is valid. A process that shares its run has measured a part, and this is the verdict on the whole.
    pub valid: bool,
}
