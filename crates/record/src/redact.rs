//! A run without the names of its owners: hosts, users, addresses, paths, databases, devices and processes of others
//! become `host-1`, `user-1`. A name has one replacement everywhere. Facts of a cloud are removed.
//!
//! The record is redacted event by event, before reports are made from it, so a report cannot contain a removed name.
//! Each event and each head is taken apart field by field: a new field does not compile before a decision on its
//! contents.

mod names;
mod text;

use std::collections::BTreeSet;
use std::path::PathBuf;

use mindful_core::contract::description::{AccessPath, Description, HostView};
use mindful_core::contract::event::Event;
use mindful_core::contract::fact::is_of_cloud;
use mindful_core::contract::metric::Metric;
use mindful_core::contract::watch::Circumstance;
use mindful_core::plan::settings::{Origin, Setting, Settings};
use mindful_core::record::run::{
    Facts, HookRecord, Imported, MergedSlice, RankRecord, RunHead, Spans, StepHead, Watched,
};
use mindful_core::result::finding::Finding;

pub use names::NameKind;
use names::{Names, kind_of, says_nothing};

/// Replaces names in runs. Several runs that use it in turn get the same replacements.
#[derive(Debug, Default)]
pub struct Redactor {
    names: Names,
    /// Keys of a plan with figures and choices as values.
    choices: BTreeSet<String>,
}

impl Redactor {
    /// `choices` are the plan keys with figures and choices as values; the values of other keys are removed. `known`
    /// are names of this host and its user, which may occur without a field of their own.
    pub fn new(choices: impl IntoIterator<Item = String>, known: impl IntoIterator<Item = (NameKind, String)>) -> Self {
        let mut redactor = Self { names: Names::default(), choices: choices.into_iter().collect() };
        known.into_iter().for_each(|(kind, name)| redactor.names.learn(kind, &name));
        redactor
    }

    /// Takes notice of the names in `run`, which occur in its texts too, before and after the field that names them.
    pub(crate) fn learn(&mut self, event: Event, places: &mut Vec<Event>) {
        match event {
            Event::Environment { facts } => self.learn_facts(&facts),
            Event::Source { metrics, .. } => metrics.iter().for_each(|metric| self.names.learn_devices(&metric.name)),
            Event::Busiest { processes, .. } => {
                for process in &processes {
                    self.names.learn(NameKind::Process, &process.name);
                }
            }
            Event::Rank(rank) => self.names.learn(NameKind::Host, &rank.host),
            Event::OnTarget { what, .. } => self.learn(*what, places),
            Event::Described { description, host } => {
                self.learn_facts(&description.facts);
                places.push(Event::Described { description, host });
            }
            head @ Event::Head(_) => places.push(head),
            _ => {}
        }
    }

    /// Learns the names in settings and places when they are removed.
    pub(crate) fn learn_places(&mut self, places: Vec<Event>) {
        for place in places {
            match place {
                Event::Head(mut head) => self.head(&mut head),
                Event::Described { mut host, .. } => self.host(&mut host),
                _ => {}
            }
        }
    }

    fn learn_facts(&mut self, facts: &Facts) {
        for (key, value) in facts {
            self.names.learn_devices(key);
            if let Some(kind) = kind_of(key).filter(|_| !says_nothing(value)) {
                self.names.learn_all(kind, value);
            }
        }
    }

    pub fn text(&mut self, text: &str) -> String {
        self.names.scrubbed(text)
    }

    pub(crate) fn event(&mut self, event: &mut Event) {
        match event {
            Event::Head(head) => self.head(head),
            Event::Environment { facts } => self.facts(facts),
            Event::Described { description, host } => {
                self.description(description);
                self.host(host);
            }
            Event::Shapes { shapes } => shapes.iter_mut().for_each(|shape| self.shape(shape)),
            Event::Step(head) => self.step(head),
            Event::Source { source: _, metrics, phase: _ } => metrics.iter_mut().for_each(|metric| self.metric(metric)),
            Event::Busiest { source: _, boundary: _, processes } => {
                for process in processes {
                    process.name = self.names.of(NameKind::Process, &process.name);
                }
            }
            Event::Watched(Watched { source: _, boundary: _, phase: _, at_us: _, values }) => {
                for Circumstance { name, value, decides: _ } in values {
                    self.free(name);
                    for value in value.iter_mut() {
                        self.free(value);
                    }
                }
            }
            Event::StepEnd { error, interrupted: _ } | Event::Finished { interrupted: _, error } => {
                if let Some(error) = error {
                    self.free(error);
                }
            }
            Event::Finding(finding) => self.finding(finding),
            Event::Note { text } | Event::Hook(HookRecord { moment: text, begin_us: _, end_us: _ }) => self.free(text),
            Event::Progress { what, done: _, of: _, unit: _ } => self.free(what),
            Event::Rank(rank) => self.rank(rank),
            Event::OnTarget { target: _, what } => self.event(what),
            // Only figures.
            Event::Spans(Spans { spans: _, occupied_us: _, published: _ })
            | Event::MergedSlice(MergedSlice { report: _, reports: _, slice_us: _, long: _, ops: _ })
            | Event::Loaded { dataset: _, load_s: _ }
            | Event::Proven { proof: _ }
            | Event::Ready { ready: _, of: _ }
            | Event::Started { boundaries_us: _, clock_offset_us: _ }
            | Event::Slice { session: _, report: _ }
            | Event::Sample { source: _, boundary: _, at_us: _, cost_us: _, values: _ }
            | Event::Latencies { source: _, boundary: _, sampled: _ }
            | Event::Window { first: _, last: _ } => {}
        }
    }

    fn rank(&mut self, rank: &mut RankRecord) {
        let RankRecord {
            rank: _,
            ranks: _,
            job,
            host,
            first_session: _,
            sessions: _,
            on_target: _,
            clock_offset_us: _,
            clock_within_us: _,
            start_us: _,
            cpus: _,
            cpu_us: _,
            findings,
        } = rank;
        *host = self.names.of(NameKind::Host, host);
        self.free(job);
        for finding in findings {
            self.finding(finding);
        }
    }

    pub(crate) fn finding(&mut self, finding: &mut Finding) {
        let Finding { code: _, severity: _, text, evidence } = finding;
        self.free(text);
        self.free(evidence);
    }

    fn head(&mut self, head: &mut RunHead) {
        let RunHead {
            format: _,
            id: _,
            started_at: _,
            engine: _,
            server_side_loop: _,
            mindful_version: _,
            mindful_build: _,
            target,
            plan,
            settings,
            imported,
        } = head;
        *target = self.names.target(target);
        plan.target = self.names.target(&plan.target);
        plan.tag.iter_mut().for_each(|tag| self.free(tag));
        let hooks = &mut plan.hooks;
        for command in [&mut hooks.before, &mut hooks.after, &mut hooks.end].into_iter().flatten() {
            *command = self.names.of(NameKind::Command, command);
        }
        *settings = self.settings(settings);
        if let Some(Imported { what: _, files }) = imported {
            for file in files {
                *file = self.names.of(NameKind::Path, file);
            }
        }
    }

    fn settings(&mut self, settings: &Settings) -> Settings {
        let mut clean = Settings::default();
        for (key, Setting { value, origin }) in settings.iter() {
            let value = if *origin == Origin::Default { value.clone() } else { self.value(key, value) };
            let origin = match origin {
                Origin::Found(path) => Origin::Found(self.names.of(NameKind::Path, path)),
                Origin::File(path) => Origin::File(self.names.of(NameKind::Path, path)),
                Origin::Default | Origin::Variable(_) | Origin::Flag(_) => origin.clone(),
            };
            clean.set(key, value, origin);
        }
        clean
    }

    fn value(&mut self, key: &str, value: &str) -> String {
        let named = kind_of(key).filter(|_| !says_nothing(value));
        match (key, named) {
            ("target", _) => self.names.target(value),
            (_, Some(kind)) => self.names.whole(kind, value),
            _ if self.choices.contains(key) => self.names.scrubbed(value),
            _ if says_nothing(value) => value.to_owned(),
            _ => self.names.whole(if key.contains("hook") { NameKind::Command } else { NameKind::Path }, value),
        }
    }

    fn facts(&mut self, facts: &mut Facts) {
        let kept = std::mem::take(facts).into_iter().filter(|(key, _)| !is_of_cloud(key));
        let clean = kept.map(|(key, value)| {
            let value = match kind_of(&key).filter(|_| !says_nothing(&value)) {
                Some(kind) => self.names.whole(kind, &value),
                None => self.names.scrubbed(&value),
            };
            (self.names.devices_of(&key, "."), value)
        });
        *facts = clean.collect();
    }

    fn description(&mut self, description: &mut Description) {
        let Description {
            engine_version: _,
            block_bytes: _,
            cache_bytes: _,
            cache_each_session: _,
            instance: _,
            endpoints: _,
            facts,
            files: _,
            advice: _,
            held_fixed,
            expected_log: _,
            cache_requests: _,
            stored_blocks,
            log_by_forced_writes: _,
            syncs_log_only: _,
            words: _,
            simulated: _,
            no_layout: _,
            notice: _,
            clock_cost_us: _,
            unsafe_settings: _,
        } = description;
        self.facts(facts);
        *held_fixed = std::mem::take(held_fixed)
            .into_iter()
            .map(|(key, decides)| (self.names.devices_of(&key, "."), decides))
            .collect();
        if let Some(text) = stored_blocks {
            self.free(text);
        }
    }

    fn host(&mut self, host: &mut HostView) {
        let HostView { local: _, server_pid: _, data_paths, log_paths, log_apart: _, in_process: _, private: _ } = host;
        for path in data_paths.iter_mut().chain(log_paths) {
            *path = PathBuf::from(self.names.whole(NameKind::Path, &path.to_string_lossy()));
        }
    }

    fn shape(&mut self, shape: &mut AccessPath) {
        let AccessPath { kind: _, shape, pure: _, detail, idle_settings: _ } = shape;
        self.free(shape);
        self.free(detail);
    }

    fn step(&mut self, head: &mut StepHead) {
        for (key, value) in &mut head.point.values {
            *value = self.value(key, value);
        }
    }

    fn metric(&mut self, metric: &mut Metric) {
        let Metric { name, unit: _, kind: _, help } = metric;
        *name = self.names.devices_of(name, ".");
        self.free(help);
    }

    fn free(&mut self, text: &mut String) {
        *text = self.names.replace_in(text);
    }
}
