//! Readers of others, which tests hold exported files against.

use std::path::{Path, PathBuf};

use crate::not_run;

/// Where `.ci/tools` put a reader; where it did not, says so and gives `None`.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools").join(name);
    if path.exists() {
        return Some(path);
    }
    not_run(&format!("no target/tools/{name} here: .ci/tools fetches it"));
    None
}
