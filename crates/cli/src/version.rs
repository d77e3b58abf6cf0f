//! What this binary is: version, commit, features, profile.

use crate::registry;

/// One line: `0.1.0 (1a2b3c4d5e6f, release; postgres, mysql, sqlite, raw)`. The commit ends with `+changes` where files differed
/// from it, and is `unknown` where no source tree reported it.
pub fn line() -> String {
    let features = features();
    let features = if features.is_empty() { "null alone".to_owned() } else { features.join(", ") };
    format!("{} ({}, {}; {features})", env!("CARGO_PKG_VERSION"), env!("BUILT_COMMIT"), env!("BUILT_PROFILE"))
}

/// The engines that were built in, besides `null`, and `png` where pictures can be drawn in pixels.
fn features() -> Vec<&'static str> {
    let engines = registry::ENGINES.iter().map(|engine| engine.name()).filter(|name| *name != "null");
    engines.chain(cfg!(feature = "png").then_some("png")).collect()
}
