//! Whether a result may be quoted.

use serde::{Deserialize, Serialize};

stored_names! {
    /// Whether a result may be quoted.
    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Validity {
        /// No doubt about the result.
        Valid = "VALID",
        /// Something may have spoiled it.
        Suspect = "SUSPECT",
        /// The result differs from the plan.
        Invalid = "INVALID",
    }
}
