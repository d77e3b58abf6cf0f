//! A run in simulated time: the null engine, its own store, no host.

use std::sync::Arc;
use std::time::Duration;

use mindful_conformance::Notes;
use mindful_core::Engine;
use mindful_core::contract::Resolved;
use mindful_core::contract::clock::{Clock, Time};
use mindful_core::contract::event::Events;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::settings::{Key, Origin, Settings};
use mindful_core::plan::{KEYS, SWEEP_KEYS};
use mindful_null::{Null, SimulatedClock};
use mindful_record::Store;
use mindful_runner::sweep::Sweep;
use mindful_runner::walk::Walk;
use mindful_runner::{Alone, Context, Ended, Resumed, Single};

pub(crate) struct Simulation {
    pub store: tempfile::TempDir,
    pub clock: SimulatedClock,
    pub notes: Arc<Notes>,
    pub stop: StopFlag,
    engine: &'static dyn Engine,
}

impl Simulation {
    pub(crate) fn new() -> Self {
        let clock = SimulatedClock::default();
        // An engine exists as long as the process.
        let engine = Box::leak(Box::new(Null::simulated(clock.clone())));
        let (store, notes) = (tempfile::tempdir().unwrap(), Arc::default());
        Self { store, clock, notes, stop: StopFlag::default(), engine }
    }

    /// The same store and another clock, for a process that continues the run of an earlier one.
    pub(crate) fn again(self) -> Self {
        Self { store: self.store, ..Self::new() }
    }

    /// Stops the run at a simulated time.
    pub(crate) fn stop_at(&self, at: Duration) {
        let (clock, stop, mut slot) = (self.clock.clone(), self.stop.clone(), self.clock.new_thread_slot());
        std::thread::spawn(move || {
            slot.enter();
            clock.sleep_unless(clock.now_us() + at.as_micros() as i64, &|| false);
            stop.request();
        });
    }

    fn settings(given: &[(&str, &str)]) -> Settings {
        let mut settings = Settings::defaults(all_keys());
        let steady = given.iter().any(|(key, _)| *key == "steady");
        let base = [("target", "null:"), ("scale", "1000"), ("warmup", "0s")];
        let base = if steady { &base[..2] } else { &base[..] };
        for (key, value) in base.iter().chain(given) {
            assert!(all_keys().any(|known| known.name == *key), "{key}");
            settings.set(key, *value, Origin::Flag(format!("--{key}")));
        }
        settings
    }

    pub(crate) fn store(&self) -> Store {
        Store::open(self.store.path())
    }

    fn context(&self, resolved: Resolved) -> Context {
        let (live, clock) = (Arc::clone(&self.notes) as Arc<dyn Events>, Arc::new(self.clock.clone()));
        Context::new(resolved, self.engine, self.store(), live, self.stop.clone(), clock).unwrap()
    }

    pub(crate) fn run(&self, given: &[(&str, &str)]) -> Ended {
        let context = self.context(Resolved::parse(self.engine, Self::settings(given)).unwrap());
        let mut source = Single::new(context.system(), context.plan.clone());
        mindful_runner::run(&context, &Alone, &mut source, None, &mut |_, _| Ok(())).unwrap()
    }

    /// A whole sweep, or the rest of one.
    pub(crate) fn sweep(&self, given: &[(&str, &str)], resumed: Option<Resumed>) -> Ended {
        let settings = Self::settings(given);
        let keys: Vec<&Key> = all_keys().collect();
        let sweep = Sweep::new(&settings, &keys, self.engine).unwrap();
        let mut context = self.context(sweep.base.clone());
        context.stored = settings;
        let mut walk = match &resumed {
            Some((_, run)) => Walk::resumed(&sweep, &context, run),
            None => Walk::new(&sweep, &context),
        };
        mindful_runner::run(&context, &Alone, &mut walk, resumed, &mut |_, _| Ok(())).unwrap()
    }
}

fn all_keys() -> impl Iterator<Item = &'static Key> {
    KEYS.iter().chain(SWEEP_KEYS).chain(mindful_null::KEYS)
}
