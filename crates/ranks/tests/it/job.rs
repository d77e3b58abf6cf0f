//! A job in simulated time: ranks, each on a thread of its own, that meet in one process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mindful_conformance::Notes;
use mindful_core::contract::Resolved;
use mindful_core::contract::clock::{Clock, FOREVER, Time};
use mindful_core::contract::event::Events;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::KEYS;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};
use mindful_core::ranks::{Rank, TargetAssignment};
use mindful_core::record::run::Run;
use mindful_core::result::Summary;
use mindful_core::{Engine, Error};
use mindful_null::{InMemoryRendezvous, Null, SimulatedClock};
use mindful_ranks::{JoinRequest, Ranked, key_marks, plan_digest};
use mindful_record::Store;
use mindful_runner::{Alone, Context, Coordination, Ended, Single};

const PLAN: [(&str, &str); 8] = [
    ("target", "null:"),
    ("scale", "1000"),
    ("sessions", "32"),
    ("work_unit", "4"),
    ("update_pct", "20"),
    ("warmup", "2s"),
    ("duration", "10s"),
    ("null_latency", "10ms"),
];

/// The outcome of a rank: the run that it showed, if any, or why it ended.
pub(crate) type Came = Result<Option<Summary>, Error>;

pub(crate) type Given<'a> = &'a [(&'a str, &'a str)];

/// The work of a thread.
pub(crate) type Work<'a, T> = Box<dyn FnOnce() -> T + Send + 'a>;

pub(crate) const JOINED: &str = r#""stage":"joined""#;

pub(crate) struct Job {
    pub clock: SimulatedClock,
    pub rendezvous: Arc<InMemoryRendezvous>,
    engine: &'static dyn Engine,
    store: tempfile::TempDir,
    /// A rank that loses the rendezvous after so long.
    pub cut_off: Option<(u32, Duration)>,
}

pub(crate) struct Process {
    pub ended: Ended,
    pub shown: Option<Summary>,
}

impl Job {
    pub(crate) fn new() -> Self {
        let clock = SimulatedClock::default();
        Self::on(clock.clone(), Null::simulated(clock))
    }

    /// With an `engine` on the same `clock`.
    pub(crate) fn on(clock: SimulatedClock, engine: Null) -> Self {
        let engine = Box::leak(Box::new(engine));
        let rendezvous = Arc::new(InMemoryRendezvous::new(Arc::new(clock.clone())));
        Self { clock, rendezvous, engine, store: tempfile::tempdir().unwrap(), cut_off: None }
    }

    pub(crate) fn store(&self, rank: u32) -> Store {
        self.store_in("job", rank)
    }

    fn store_in(&self, job: &str, rank: u32) -> Store {
        Store::open(self.store.path().join(job).join(rank.to_string()))
    }

    pub(crate) fn alone(&self, given: Given<'_>) -> Ended {
        self.process(0, 1, given, "1").unwrap().ended
    }

    /// A rank from begin to end, of the job that `given` names or of one called job.
    pub(crate) fn rank(&self, number: u32, of: u32, given: Given<'_>, version: &str) -> Came {
        let process = self.process(number, of, given, version)?;
        assert!(process.ended.valid);
        Ok(process.shown)
    }

    /// Process `number` of `of`; one of one is not a rank.
    pub(crate) fn process(&self, number: u32, of: u32, given: Given<'_>, version: &str) -> Result<Process, Error> {
        let context = self.context(number, given);
        let coordination: Box<dyn Coordination> = if of == 1 {
            Box::new(Alone)
        } else {
            Box::new(Ranked::join(self.join_request(&context, number, of, version))?)
        };
        let (mut source, mut shown) = (Single::new(context.system(), context.plan.clone()), None);
        let ended = mindful_runner::run(&context, &*coordination, &mut source, None, &mut |_, analysis| {
            shown = Some(analysis.summary.clone());
            Ok(())
        })?;
        Ok(Process { ended, shown })
    }

    pub(crate) fn context(&self, number: u32, given: Given<'_>) -> Context {
        let mut settings = Settings::defaults(KEYS.iter().chain(mindful_null::KEYS));
        // A fixed amount of work has no duration.
        let ops = given.iter().any(|(key, _)| *key == "ops");
        for (key, value) in PLAN.iter().filter(|(key, _)| !(ops && *key == "duration")).chain(given) {
            settings.set(key, *value, Origin::Flag(format!("--{key}")));
        }
        let store = self.store_in(settings.get("job").unwrap_or("job"), number);
        let (clock, live) = (Arc::new(self.clock.clone()), Arc::new(Notes::default()) as Arc<dyn Events>);
        let resolved = Resolved::parse(self.engine, settings).unwrap();
        Context::new(resolved, self.engine, store, live, StopFlag::default(), clock).unwrap()
    }

    pub(crate) fn join_request(&self, context: &Context, number: u32, of: u32, version: &str) -> JoinRequest {
        JoinRequest {
            rank: Rank {
                number,
                count: of,
                source: "a test".to_owned(),
                job: None,
                assignment: TargetAssignment::default(),
            },
            rendezvous: match self.cut_off {
                Some((cut_off, after)) if cut_off == number => {
                    Arc::new(self.rendezvous.lost_at(after)) as Arc<dyn Rendezvous>
                }
                _ => Arc::clone(&self.rendezvous) as Arc<dyn Rendezvous>,
            },
            job: context.settings.get("job").unwrap_or("job").to_owned(),
            host: format!("host-{number}"),
            version: version.to_owned(),
            plan: plan_digest(context, &[]),
            marks: key_marks(context, &[]),
            targets: Vec::new(),
            timeout: Duration::from_secs(30),
            clock: Arc::clone(&context.clock),
            stop: StopFlag::default(),
        }
    }

    /// Does all of `works` at once, each on a thread of its own.
    pub(crate) fn all<T: Send>(&self, works: Vec<Work<'_, T>>) -> Vec<T> {
        let (notifier, left) = (self.clock.new_notifier(), AtomicUsize::new(works.len()));
        let done: Vec<Mutex<Option<T>>> = works.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for (work, done) in works.into_iter().zip(&done) {
                let (notifier, left, mut slot) = (&notifier, &left, self.clock.new_thread_slot());
                scope.spawn(move || {
                    slot.enter();
                    *done.lock().unwrap() = Some(work());
                    left.fetch_sub(1, Ordering::SeqCst);
                    notifier.notify();
                });
            }
            notifier.wait(FOREVER, &mut || left.load(Ordering::SeqCst) > 0);
        });
        done.into_iter().map(|done| done.into_inner().unwrap().unwrap()).collect()
    }

    pub(crate) fn processes(&self, of: u32, given: Given<'_>) -> Vec<Result<Process, Error>> {
        let process = |number| Box::new(move || self.process(number, of, given, "1")) as Work<'_, _>;
        self.all((0..of).map(process).collect())
    }

    /// Ranks by their numbers, with the settings of each in addition to the plan.
    pub(crate) fn ranks(&self, of: u32, given: &[(u32, Given<'_>, &str)]) -> Vec<Came> {
        let rank = |(number, given, version): &(u32, Given<'_>, &str)| self.rank(*number, of, given, version);
        self.all(given.iter().map(|given| Box::new(move || rank(given)) as Work<'_, _>).collect())
    }

    /// The outcomes of some ranks of `of` next to the result of `other`.
    pub(crate) fn ranks_next_to<T: Send>(
        &self,
        other: impl FnOnce() -> T + Send,
        ranks: impl Iterator<Item = u32>,
        of: u32,
        given: Given<'_>,
    ) -> (T, Vec<Came>) {
        let found = Mutex::new(None);
        let mut works: Vec<Work<'_, Option<Came>>> = vec![Box::new(|| {
            *found.lock().unwrap() = Some(other());
            None
        })];
        works.extend(ranks.map(|number| Box::new(move || Some(self.rank(number, of, given, "1"))) as Work<'_, _>));
        let came = self.all(works).into_iter().flatten().collect();
        (found.into_inner().unwrap().unwrap(), came)
    }

    pub(crate) fn pause(&self, time: Duration) {
        self.clock.sleep_unless(self.clock.now_us() + time.as_micros() as i64, &|| false);
    }

    /// A rank that died with `last` in its row, which is not renewed after its `lease`; if it is the first rank, all
    /// others begin 5 s later.
    pub(crate) fn die(&self, rank: u32, last: &str, lease: Duration) {
        let other = u32::from(rank == 0);
        loop {
            let seen = self.rendezvous.read_row("job", other).unwrap();
            if let Some(other) = seen.filter(|seen| seen.row.body.contains(JOINED)) {
                let start = format!(",\"start_us\":{}", self.clock.now_us() + 5_000_000);
                let last = format!("{last}{}", if rank == 0 { &start } else { "" });
                let body = other.row.body.replace(JOINED, &last);
                let body = body.replace(&format!("host-{}", other.row.rank), "host-x");
                let row = RankRow { rank, token: "dead".to_owned(), body };
                self.rendezvous.claim_rank("job", &row, lease).unwrap();
                return;
            }
            self.pause(Duration::from_millis(10));
        }
    }

    pub(crate) fn part(&self, rank: u32) -> Run {
        let store = self.store(rank);
        let mut ids: Vec<_> = store.list().unwrap().into_iter().map(|listed| listed.id).collect();
        ids.retain(|id| store.read(id).unwrap().steps[0].ranks.len() == 1);
        store.read(&ids[0]).unwrap()
    }
}
