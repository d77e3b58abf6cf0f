//! The common input of all work on a target: the plan, the engine, the events, the stop flag.

use std::path::PathBuf;
use std::sync::Arc;

use mindful_core::contract::Resolved;
use mindful_core::contract::clock::Clock;
use mindful_core::contract::engine::{Engine, EngineOptions};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::Plan;
use mindful_core::plan::secret::without_secrets;
use mindful_core::plan::settings::Settings;
use mindful_core::record::run::{HookRecord, RunHead};
use mindful_core::workload::{Commit, LoopSite};
use mindful_core::{Error, Result};
use mindful_record::Store;

use crate::abortable_target::AbortableTarget;
use crate::hooks::{self, HookMoment};
use crate::recording::Recording;
use crate::source::System;

pub struct Context {
    /// The text of all settings with their origins, for messages and for the record.
    pub settings: Settings,
    /// The settings as stored: those of a sweep contain its ladders, not its first point.
    pub stored: Settings,
    pub plan: Plan,
    pub options: Arc<dyn EngineOptions>,
    pub engine: &'static dyn Engine,
    pub recording: Arc<Recording>,
    pub stop: StopFlag,
    pub clock: Arc<dyn Clock>,
    pub store: Store,
    /// Build of this mindful, in one line.
    pub build: Option<String>,
}

impl Context {
    /// Refuses settings in `resolved` that `engine` does not support. Opens nothing. Events are shown by `live`.
    pub fn new(
        resolved: Resolved,
        engine: &'static dyn Engine,
        store: Store,
        live: Arc<dyn Events>,
        stop: StopFlag,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let Resolved { mut plan, options, origins: settings } = resolved;
        refuse_what_it_cannot(&mut plan, engine, &settings)?;
        Ok(Self {
            stored: settings.clone(),
            settings,
            plan,
            options,
            engine,
            recording: Recording::new(live),
            stop,
            clock,
            store,
            build: None,
        })
    }

    pub fn events(&self) -> Arc<dyn Events> {
        Arc::clone(&self.recording) as Arc<dyn Events>
    }

    pub fn open(&self) -> Result<AbortableTarget> {
        self.open_system(&self.system(), self.plan.sessions)
    }

    /// Opens a system; a server that is started for it makes room for `sessions`.
    pub(crate) fn open_system(&self, system: &System, sessions: u32) -> Result<AbortableTarget> {
        let open = || system.options.open(sessions, &self.events());
        Ok(AbortableTarget::new(self.stop.run_expendable(open)?, &self.stop))
    }

    /// The folder in which opening the target would make a server first.
    pub fn would_make(&self) -> Result<Option<PathBuf>> {
        self.stop.run_expendable(|| self.options.find_folder_to_make(&self.events()))
    }

    /// The run's own system, which its plan names.
    pub fn system(&self) -> System {
        System {
            engine: self.engine,
            url: self.plan.target.clone(),
            options: Arc::clone(&self.options),
            settings: self.settings.clone(),
        }
    }

    /// The head of a run before anything is opened; the store adds the id and the time.
    pub(crate) fn head(&self) -> RunHead {
        RunHead {
            mindful_build: self.build.clone(),
            server_side_loop: Some(self.engine.capabilities().server_side_loop),
            target: self.redacted_target(),
            ..RunHead::new(self.engine.name(), self.plan.clone(), self.public_settings())
        }
    }

    /// Runs the user's hook of `phase`, if there is one, for run `id`.
    pub fn hook(&self, phase: HookMoment, id: &str) -> Result<()> {
        let begin_us = self.clock.now_us();
        let called = hooks::call(&self.plan.hooks, phase, id, &self.store.run_dir(id), &*self.events(), &self.stop);
        // Notes after the last line of a record do not belong to it.
        if phase.command(&self.plan.hooks).is_some() && phase != HookMoment::End {
            let hook = HookRecord { moment: phase.name().to_owned(), begin_us, end_us: self.clock.now_us() };
            self.events().emit(Event::Hook(hook));
        }
        called
    }

    pub fn redacted_target(&self) -> String {
        self.engine.redact(&self.plan.target)
    }

    /// The settings as they may be stored: no secrets.
    pub fn public_settings(&self) -> Settings {
        let mut settings = Settings::default();
        for (name, setting) in self.stored.iter() {
            let value = if name == "target" { self.redacted_target() } else { without_secrets(&setting.value) };
            settings.set(name, value, setting.origin.clone());
        }
        settings
    }

    /// The plan as it may be shown: no secrets.
    pub fn public_plan(&self) -> Plan {
        let mut plan = self.plan.clone();
        for hook in [&mut plan.hooks.before, &mut plan.hooks.after, &mut plan.hooks.end].into_iter().flatten() {
            *hook = without_secrets(hook);
        }
        plan
    }
}

/// Refuses settings that `engine` does not support. Moves the loop to the client if the engine requires it and the user
/// did not choose a site.
pub(crate) fn refuse_what_it_cannot(plan: &mut Plan, engine: &dyn Engine, settings: &Settings) -> Result<()> {
    let can = engine.capabilities();
    let refuse = |ask: bool, able: bool, what: &str, next: &str| {
        if ask && !able { Err(Error::plan(format!("engine {} cannot {what}", engine.name()), next)) } else { Ok(()) }
    };
    refuse(!plan.update_pct.is_none(), can.updates, "update blocks here", "omit --update-pct")?;
    refuse(!plan.scan_pct.is_none(), can.scans, "scan tables", "omit --scan-pct")?;
    refuse(!plan.access.is_index(), can.access_paths, "choose how blocks are reached", "omit --access")?;
    let commit_mode = plan.commit != Commit::Each || !plan.commit_wait;
    refuse(commit_mode, can.commit_modes, "choose when to commit", "omit --commit and --commit-wait")?;
    refuse(plan.rate.is_some(), can.rate, "keep a rate", "omit --rate")?;
    let server_side = can.server_side_loop && plan.rate.is_none();
    if plan.loop_site == LoopSite::Server && !server_side {
        let why = if plan.rate.is_some() { "keep a rate in its server-side loop" } else { "loop on the server side" };
        refuse(settings.given_text("loop").is_some(), false, why, "pass --loop client")?;
        plan.loop_site = LoopSite::Client;
    }
    refuse(plan.loop_site == LoopSite::Client, can.client_side_loop, "loop on the client side", "pass --loop server")
}
