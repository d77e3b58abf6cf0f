//! Circumstances that are read along with the counters. Only changes since the previous reading are recorded.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::contract::metric::{Phase, Sampler};
use mindful_core::contract::watch::{Circumstance, Watch};

#[derive(Default)]
pub struct Sources {
    pub samplers: Vec<Box<dyn Sampler>>,
    pub watches: Vec<Watching>,
}

impl From<Vec<Box<dyn Sampler>>> for Sources {
    fn from(samplers: Vec<Box<dyn Sampler>>) -> Self {
        Self { samplers, watches: Vec::new() }
    }
}

pub struct Watching {
    watch: Box<dyn Watch>,
    known: BTreeMap<String, Option<String>>,
}

impl Watching {
    pub fn new(watch: Box<dyn Watch>, before: &[Circumstance]) -> Self {
        let known = before.iter().map(|found| (found.name.clone(), found.value.clone())).collect();
        Self { watch, known }
    }

    pub(crate) fn name(&self) -> &str {
        self.watch.name()
    }

    pub(crate) fn phase(&self) -> Phase {
        self.watch.phase()
    }

    /// Reads all values; returns those that are new or changed. A value that can no longer be read keeps its last
    /// state.
    pub(crate) fn read_changes(&mut self) -> Result<Vec<Circumstance>> {
        let mut changed = Vec::new();
        for found in self.watch.read()? {
            let known = self.known.get(&found.name);
            if known.is_none_or(|known| found.value.is_some() && *known != found.value) {
                self.known.insert(found.name.clone(), found.value.clone());
                changed.push(found);
            }
        }
        Ok(changed)
    }
}
