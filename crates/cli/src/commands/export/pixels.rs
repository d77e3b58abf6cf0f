//! Charts as PNG, in a build with the feature `png`.

#[cfg(feature = "png")]
mod drawn;

#[cfg(feature = "png")]
pub use drawn::png;
use mindful_core::{Error, Result};

/// Refuses what this build cannot make, before any run is read.
pub fn able() -> Result<()> {
    if cfg!(feature = "png") {
        return Ok(());
    }
    Err(Error::plan("this build cannot draw PNG", "pass --as svg, or build mindful with --features png"))
}

/// The picture `svg` as PNG.
#[cfg(not(feature = "png"))]
pub fn png(_svg: &str) -> Result<Vec<u8>> {
    able().map(|()| Vec::new())
}
