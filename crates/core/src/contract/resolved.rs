//! The input of a command, parsed once: the plan, the options of its engine, and the origin of each value.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::contract::engine::{Engine, EngineOptions};
use crate::contract::error::Result;
use crate::plan::Plan;
use crate::plan::settings::{Origin, Settings};

/// Plan and options, parsed; the text of all settings is kept for messages and for the record.
#[derive(Clone)]
pub struct Resolved {
    /// The plan.
    pub plan: Plan,
    /// The options, which open the target.
    pub options: Arc<dyn EngineOptions>,
    /// The text of each setting and its origin.
    pub origins: Settings,
}

impl Resolved {
    /// Parses `origins` for a target of `engine`.
    pub fn parse(engine: &dyn Engine, origins: Settings) -> Result<Self> {
        let plan = Plan::from_settings(&origins)?;
        let options = engine.parse_options(&plan.target, &origins)?;
        Ok(Self { plan, options, origins })
    }

    /// A copy with other `values` of some keys: the plan is parsed again, the options only if a value belongs to them.
    pub fn with_values(&self, engine: &dyn Engine, values: &BTreeMap<String, String>) -> Result<Self> {
        let mut origins = self.origins.clone();
        for (key, value) in values {
            origins.set(key, value, Origin::Flag(format!("--{}", key.replace('_', "-"))));
        }
        let plan = Plan::from_settings(&origins)?;
        let own = engine.options().iter().any(|key| values.contains_key(key.name));
        let options = if own { engine.parse_options(&plan.target, &origins)? } else { Arc::clone(&self.options) };
        Ok(Self { plan, options, origins })
    }
}
