//! The requested work of a run, from the text of its settings.
//!
//! A record contains the plan and the workload of each step as numbers, and all settings as text. The numbers follow
//! from the text, so a record in which they differ was changed. Nothing is expected of a step that deviates on purpose:
//! a contrast, a job on files, a part of several targets.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Run, StepRecord};
use crate::plan::settings::{Origin, Settings};
use crate::plan::{KEYS, Plan, SWEEP_KEYS};

const OF_DATASET: [&str; 4] = ["target", "schemas", "scale", "scan_table"];

impl Run {
    /// The plan by the settings, as JSON, without the keys that a sweep varies; `None` if unknown.
    pub fn asked_plan(&self) -> Option<Value> {
        let point = self.steps.first().map(|step| &step.head.point.values);
        let varied: Vec<&String> = point.into_iter().flat_map(BTreeMap::keys).collect();
        let plan = self.plan_at(point)?;
        let mut plan = serde_json::to_value(plan).ok()?;
        let fields = plan.as_object_mut()?;
        // The price is a figure of the summary, and may be attached later.
        fields.remove("price");
        let fields_of_their_own = varied.iter().all(|key| fields.remove(key.as_str()).is_some());
        fields_of_their_own.then_some(plan)
    }

    /// The workload of `step` by the settings, with the placement of its sessions as in its head; `None` if unknown.
    pub fn asked_step(&self, step: &StepRecord) -> Option<Value> {
        let plan = self.plan_at(Some(&step.head.point.values)).filter(|_| step.error.is_none())?;
        let workload = plan.workload(self.dataset.as_ref()?).ok()?;
        let endpoints = self.description.as_ref().filter(|_| step.ranks.is_empty()).map(|of| of.endpoints);
        let placements = endpoints.map(|endpoints| plan.placements(workload.schemas, endpoints));
        let mut asked = serde_json::Map::new();
        asked.insert("workload".to_owned(), serde_json::to_value(workload).ok()?);
        if let Some(placements) = placements {
            asked.insert("placements".to_owned(), serde_json::to_value(placements).ok()?);
        }
        Some(asked.into())
    }

    /// The plan by the settings with the `values` of a step.
    fn plan_at(&self, values: Option<&BTreeMap<String, String>>) -> Option<Plan> {
        let of_targets = !self.targets.is_empty()
            || self.steps.iter().flat_map(|step| &step.ranks).any(|rank| rank.on_target.is_some());
        // Another target or another size may be another dataset, and an option of the engine another block.
        let known = |key: &String| KEYS.iter().any(|known| known.name == key) && !OF_DATASET.contains(&key.as_str());
        if of_targets || self.head.imported.is_some() || values.is_some_and(|values| !values.keys().all(known)) {
            return None;
        }
        let mut settings = Settings::defaults(KEYS.iter().chain(SWEEP_KEYS));
        let stored = self.head.settings.iter().map(|(name, setting)| (name, &setting.value, setting.origin.clone()));
        let varied = values.into_iter().flatten();
        let varied = varied.map(|(name, value)| (name.as_str(), value, Origin::Flag(name.clone())));
        for (name, value, origin) in stored.chain(varied) {
            settings.set(name, value, origin);
        }
        Plan::from_settings(&settings).ok().filter(|_| self.head.settings.get("target").is_some())
    }
}
