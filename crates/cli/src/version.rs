//! This binary: version, commit, features, profile.

use crate::registry;

/// One line: `0.1.0 (1a2b3c4d5e6f, release; postgres, mysql, sqlite, raw)`. The commit ends with `+changes` if files
/// differed from it, and is `unknown` without a source tree.
pub(crate) fn line() -> String {
    let features = features();
    let features = if features.is_empty() { "null only".to_owned() } else { features.join(", ") };
    format!("{} ({}, {}; {features})", env!("CARGO_PKG_VERSION"), env!("BUILT_COMMIT"), env!("BUILT_PROFILE"))
}

/// The engines of this build except `null`, and `png`.
fn features() -> Vec<&'static str> {
    let engines = registry::ENGINES.iter().map(|engine| engine.name()).filter(|name| *name != "null");
    engines.chain(cfg!(feature = "png").then_some("png")).collect()
}
