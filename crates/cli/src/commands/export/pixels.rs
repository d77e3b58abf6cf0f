//! Charts as PNG, in a build with the feature `png`.

use mindful_core::{Error, Result};
#[cfg(feature = "png")]
pub(super) use mindful_report::png::png;

/// Refuses a build that cannot draw pixels, before any run is read.
pub(super) fn refuse_without_png() -> Result<()> {
    if cfg!(feature = "png") {
        return Ok(());
    }
    Err(Error::plan("this build cannot draw PNG", "pass --as svg, or build mindful with --features png"))
}

#[cfg(not(feature = "png"))]
pub(super) fn png(_svg: &str) -> Result<Vec<u8>> {
    refuse_without_png().map(|()| Vec::new())
}
