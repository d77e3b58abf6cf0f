//! Where a run's steps come from: a plan of one step, a ladder, a contrast, a job on files.

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::engine::{Engine, EngineOptions};
use mindful_core::contract::target::Target;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::record::run::Point;
use mindful_core::result::StepSummary;

use crate::recording::Recording;

/// A system as it is opened: two steps with equal systems share a target.
#[derive(Clone)]
pub struct System {
    pub engine: &'static dyn Engine,
    pub url: String,
    pub options: Arc<dyn EngineOptions>,
    /// The text of the settings that the options were parsed from.
    pub settings: Settings,
}

impl System {
    /// The system at `url`, with the defaults of its other options.
    pub(crate) fn new<'a>(
        engine: &'static dyn Engine,
        url: String,
        options: impl IntoIterator<Item = (&'a str, String)>,
    ) -> Result<Self> {
        let mut settings = Settings::defaults(engine.options());
        options.into_iter().for_each(|(option, value)| settings.set(option, value, Origin::Default));
        Ok(Self { engine, options: engine.parse_options(&url, &settings)?, url, settings })
    }

    /// The same system with other values of some options.
    pub(crate) fn with_options<'a>(&self, options: impl IntoIterator<Item = (&'a str, String)>) -> Result<Self> {
        let (mut settings, url) = (self.settings.clone(), self.url.clone());
        options.into_iter().for_each(|(option, value)| settings.set(option, value, Origin::Default));
        Ok(Self { engine: self.engine, options: self.engine.parse_options(&url, &settings)?, url, settings })
    }

    /// Whether `other` would be opened the same way.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let mut names = self.engine.options().iter().map(|key| key.name);
        self.engine.name() == other.engine.name()
            && self.url == other.url
            && names.all(|name| self.settings.get(name) == other.settings.get(name))
    }
}

#[derive(Clone)]
pub struct NextStep {
    pub system: System,
    /// Whether the dataset is loaded or completed when the system is opened; otherwise it is taken as it is found.
    pub loads: bool,
    pub plan: Plan,
    /// Its place among the others.
    pub point: Point,
    /// Whether the server, one that mindful started, is kept on one CPU meanwhile.
    pub on_one_cpu: bool,
}

pub trait StepSource {
    /// The run's own system is open and contains `dataset`; nothing is stored yet.
    ///
    /// # Errors
    /// The source cannot use the target or the dataset; then nothing is stored.
    fn opened(&mut self, _target: &dyn Target, _dataset: &Dataset, _recording: &Recording) -> Result<()> {
        Ok(())
    }

    /// The next step, after the figures of the previous one; `None` ends the run.
    fn next(&mut self, finished: Option<&StepSummary>, recording: &Recording) -> Result<Option<NextStep>>;

    /// Whether a step that fails, or that its target refuses, is recorded and the next one taken. Otherwise it ends the
    /// run.
    fn passes_over(&self) -> bool {
        false
    }

    /// Whether steps differ in more than their load, so that a check of the target before a run does not hold for all
    /// of them: then it is checked before each.
    fn differs(&self) -> bool {
        false
    }
}

pub struct Single(Option<NextStep>);

impl Single {
    pub fn new(system: System, plan: Plan) -> Self {
        Self(Some(NextStep { system, loads: true, plan, point: Point::default(), on_one_cpu: false }))
    }
}

impl StepSource for Single {
    fn next(&mut self, _: Option<&StepSummary>, _: &Recording) -> Result<Option<NextStep>> {
        Ok(self.0.take())
    }
}
