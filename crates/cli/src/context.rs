//! What every verb that works on a target needs: the plan, the engine, the events, the stop flag.

use std::io::{IsTerminal, Write};
use std::sync::Arc;

use clap::ArgMatches;
use mindful_core::engine::{Engine, Stop, Target};
use mindful_core::event::Events;
use mindful_core::plan::Plan;
use mindful_core::settings::{Origin, Settings};
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_report::Style;
use mindful_report::live::Live;

use crate::hooks::{self, Phase};
use crate::recording::Recording;
use crate::{fits, layers, registry, signals, store};

/// A verb's surroundings.
pub struct Context {
    /// All settings with their origins.
    pub settings: Settings,
    /// The plan they make.
    pub plan: Plan,
    /// The engine its target names.
    pub engine: &'static dyn Engine,
    /// Where events go.
    pub recording: Arc<Recording>,
    /// Requested by signals.
    pub stop: Stop,
    /// Where runs are kept.
    pub store: Store,
}

impl Context {
    /// Layers the settings, resolves the plan and finds its engine. Opens nothing.
    pub fn new(matches: &ArgMatches) -> Result<Self> {
        Self::with(layers::settings(matches)?, store::open(matches)?)
    }

    /// The same for settings that are already layered.
    pub fn with(settings: Settings, store: Store) -> Result<Self> {
        let mut plan = Plan::from_settings(&settings)?;
        let engine = registry::find(&plan.target)?;
        fits::fit(&mut plan, engine, &settings)?;
        let recording = Recording::new(Live::new(std::io::stderr().is_terminal()));
        Ok(Self { settings, plan, engine, recording, stop: signals::stop_on_signal()?, store })
    }

    /// Events as engines take them.
    pub fn events(&self) -> Arc<dyn Events> {
        Arc::clone(&self.recording) as Arc<dyn Events>
    }

    /// Opens the target.
    pub fn open(&self) -> Result<Box<dyn Target>> {
        self.engine.open(&self.plan.target, &self.settings, &self.events())
    }

    /// Runs the user's hook of `phase`, if there is one, for run `id`.
    pub fn hook(&self, phase: Phase, id: &str) -> Result<()> {
        hooks::call(&self.plan.hooks, phase, id, &self.store.run_dir(id), &*self.events())
    }

    /// The target as it may be shown.
    pub fn redacted_target(&self) -> String {
        self.engine.redact(&self.plan.target)
    }

    /// The settings as they may be stored: no secrets.
    pub fn public_settings(&self) -> Settings {
        let mut settings = self.settings.clone();
        let origin =
            settings.iter().find(|(name, _)| *name == "target").map_or(Origin::Default, |(_, s)| s.origin.clone());
        settings.set("target", self.redacted_target(), origin);
        settings
    }
}

/// Whether output shall be JSON.
pub fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// How stdout wants its text.
pub fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let columns =
        if terminal { rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| size.ws_col) } else { 0 };
    Style { width: if columns == 0 { 100 } else { usize::from(columns) }, colour }
}

/// Prints on stdout.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // Whoever reads us has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            Err(Error::run(format!("stdout cannot be written: {error}"), "look at where it is redirected to"))
        }
        Ok(()) => Ok(()),
    }
}
