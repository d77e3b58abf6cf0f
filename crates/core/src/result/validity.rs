//! Whether a result may be quoted.

use serde::{Deserialize, Serialize};

/// Whether a result may be quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// No doubt about the result.
    Valid,
    /// Something may have spoiled it.
    Suspect,
    /// The result differs from the plan.
    Invalid,
}
