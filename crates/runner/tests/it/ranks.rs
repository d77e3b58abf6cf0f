//! Ranks that meet in a room of one process, in simulated time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mindful_analyze::analyze;
use mindful_analyze::compare::{self, Question, RunValue, Verdict};
use mindful_conformance::Notes;
use mindful_core::contract::clock::{Clock, FOREVER, Time};
use mindful_core::contract::event::Events;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::KEYS;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::ranks::assignment::TargetAssignment;
use mindful_core::ranks::rank::Rank;
use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};
use mindful_core::record::run::{MergedSlice, Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Summary};
use mindful_core::{Engine, Error, ErrorKind};
use mindful_null::{Null, Room, SimulatedClock};
use mindful_record::Store;
use mindful_runner::Context;
use mindful_runner::party::{Invitation, LEASE, Party};
use mindful_runner::repetition::{Figure, value};
use mindful_runner::{merge, shared_run};

use crate::cut_off::CutOff;
use crate::simulation::Simulation;

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

/// What came of a rank: the run that it reported, or why it ended.
pub type Came = Result<Option<Summary>, Error>;

/// Keys of a plan with their values.
pub type Given<'a> = &'a [(&'a str, &'a str)];

/// A job on a clock and in a room of its own.
pub struct Job {
    clock: SimulatedClock,
    pub room: Arc<Room>,
    engine: &'static dyn Engine,
    store: tempfile::TempDir,
    /// A rank that cannot reach the room after so long.
    cut_off: Option<(u32, Duration)>,
}

impl Job {
    fn new() -> Self {
        let clock = SimulatedClock::default();
        let engine = Null::simulated(clock.clone());
        Self::on(clock, Box::leak(Box::new(engine)))
    }

    /// The same by an engine that goes by `clock`.
    pub fn on(clock: SimulatedClock, engine: &'static dyn Engine) -> Self {
        let room = Arc::new(Room::new(Arc::new(clock.clone())));
        Self { clock, room, engine, store: tempfile::tempdir().unwrap(), cut_off: None }
    }

    fn store(&self, rank: u32) -> Store {
        self.store_in("job", rank)
    }

    fn store_in(&self, job: &str, rank: u32) -> Store {
        Store::open(self.store.path().join(job).join(rank.to_string()))
    }

    /// One rank from begin to end, of the job that `given` names or of one called job.
    fn rank(&self, number: u32, of: u32, given: Given<'_>, version: &str) -> Came {
        let mut settings = Settings::defaults(KEYS.iter().chain(mindful_null::KEYS));
        // A fixed amount of work has no time of its own.
        let ops = given.iter().any(|(key, _)| *key == "ops");
        for (key, value) in PLAN.iter().filter(|(key, _)| !(ops && *key == "duration")).chain(given) {
            settings.set(key, *value, Origin::Flag(format!("--{key}")));
        }
        let job = settings.get("job").unwrap_or("job").to_owned();
        let (clock, live) = (Arc::new(self.clock.clone()), Arc::new(Notes::default()) as Arc<dyn Events>);
        let context =
            Context::new(settings, self.engine, self.store_in(&job, number), live, StopFlag::default(), clock.clone())
                .unwrap();
        let rank =
            Rank { number, count: of, source: "a test".to_owned(), job: None, assignment: TargetAssignment::default() };
        let invitation = Invitation {
            rank: rank.clone(),
            meeting: match self.cut_off {
                Some((cut_off, after)) if cut_off == number => {
                    Arc::new(CutOff { room: Arc::clone(&self.room), clock: self.clock.clone(), after })
                }
                _ => Arc::clone(&self.room) as Arc<dyn Rendezvous>,
            },
            job,
            host: format!("host-{number}"),
            version: version.to_owned(),
            plan: shared_run::digest(&context),
            marks: shared_run::marks(&context),
            targets: Vec::new(),
            timeout: Duration::from_secs(30),
            clock,
            stop: StopFlag::default(),
        };
        let party = Arc::new(Party::join(invitation)?);
        let context = Context { rank: Some(rank), party: Some(Arc::clone(&party)), ..context };
        let mut summary = None;
        let shared = shared_run::run(&context, &party, &mut |_, analysis| {
            summary = Some(analysis.summary.clone());
            Ok(())
        })?;
        assert!(shared.valid);
        Ok(summary)
    }

    /// Does all of `works` at once, each on a thread of its own.
    fn all<T: Send>(&self, works: Vec<Box<dyn FnOnce() -> T + Send + '_>>) -> Vec<T> {
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

    /// Ranks by their numbers, with what each was given beside the plan.
    pub fn ranks(&self, of: u32, given: &[(u32, Given<'_>, &str)]) -> Vec<Came> {
        let works = given.iter().map(|(number, given, version)| {
            Box::new(move || self.rank(*number, of, given, version)) as Box<dyn FnOnce() -> Came + Send + '_>
        });
        self.all(works.collect())
    }

    /// The run that a rank stored first: its part.
    fn part(&self, rank: u32) -> Run {
        let store = self.store(rank);
        let mut ids: Vec<_> = store.list().unwrap().into_iter().map(|listed| listed.id).collect();
        ids.retain(|id| store.read(id).unwrap().steps[0].ranks.len() == 1);
        store.read(&ids[0]).unwrap()
    }
}

/// What the row of a rank says that has come.
const JOINED: &str = r#""stage":"joined""#;

/// A rank that died when its row said `last`: nobody renews that when its `lease` is over.
fn died(room: &Room, clock: &SimulatedClock, rank: u32, last: &str, lease: Duration) {
    loop {
        let first = room.read_row("job", 0).unwrap().filter(|seen| seen.row.body.contains(JOINED));
        if let Some(first) = first {
            let body = first.row.body.replace(JOINED, last);
            let row = RankRow { rank, token: "dead".to_owned(), body: body.replace("host-0", "host-x") };
            room.claim_rank("job", &row, lease).unwrap();
            return;
        }
        clock.sleep_unless(clock.now_us() + 10_000, &|| false);
    }
}

fn figures(summary: &Summary) -> String {
    format!("{:#?}", Summary { id: String::new(), started_at: String::new(), ..summary.clone() })
}

#[test]
fn four_ranks_of_eight_do_what_one_of_thirty_two_does() {
    let job = Job::new();
    let came = job.ranks(4, &[(2, &[], "1"), (0, &[], "1"), (3, &[], "1"), (1, &[], "1")]);
    let merged = came[1].clone().unwrap().unwrap();
    assert!([0, 2, 3].into_iter().all(|rank| came[rank].as_ref().unwrap().is_none()), "one rank reports");
    assert!(job.room.is_empty(), "nothing is left where they met");
    let alone = Simulation::new().run(&PLAN);
    let (one, four) = (&alone.analysis.summary.steps[0], &merged.steps[0]);
    assert_eq!((one.sessions, one.ops.select.clone()), (four.sessions, four.ops.select.clone()));
    assert_eq!((&one.ops.update, one.blocks_visited_per_s), (&four.ops.update, four.blocks_visited_per_s));
    let stored = job.store(0).read(&merged.id).unwrap();
    assert_eq!(stored.steps[0].head.placements, alone.run.steps[0].head.placements, "the same keys: the same draws");
    assert_eq!(stored.steps[0].head.workload, alone.run.steps[0].head.workload);
    assert_eq!(merged.validity, alone.analysis.summary.validity, "{:?}", merged.findings);
}

#[test]
fn folders_merged_later_give_the_same_figures() {
    let job = Job::new();
    let came = job.ranks(3, &[(0, &[], "1"), (1, &[], "1"), (2, &[], "1")]);
    let merged = came[0].clone().unwrap().unwrap();
    let all = merge::of_folders([2, 0, 1].map(|rank| job.part(rank)).into()).unwrap();
    let (_, again) = merge::stored(&job.store(9), all, true).unwrap();
    assert_eq!(figures(&again.summary), figures(&merged));
    let missing = merge::of_folders([0, 1].map(|rank| job.part(rank)).into());
    let missing = missing.and_then(|all| merge::stored(&job.store(8), all, true)).unwrap_err();
    assert!(missing.to_string().contains("rank 2 is missing"), "{missing}");
    let twice = merge::of_folders([0, 1, 1, 2].map(|rank| job.part(rank)).into()).unwrap_err();
    assert!(twice.to_string().contains("rank 1 is there twice"), "{twice}");
}

#[test]
fn nobody_asks_anything_in_the_measured_window() {
    let job = Job::new();
    let room = &job.room;
    let mut works: Vec<Box<dyn FnOnce() -> u64 + Send + '_>> = vec![Box::new(|| {
        while job.store(0).list().unwrap().is_empty() {
            job.clock.sleep_unless(job.clock.now_us() + 100_000, &|| false);
        }
        // The start is a second or two ahead; the warm-up takes 2 s and the window 10 s.
        let pause = |seconds: i64| job.clock.sleep_unless(job.clock.now_us() + seconds * 1_000_000, &|| false);
        pause(5);
        let before = room.traffic().0;
        pause(7);
        room.traffic().0 - before
    })];
    for number in 0..2 {
        let job = &job;
        works.push(Box::new(move || {
            job.rank(number, 2, &[], "1").unwrap();
            0
        }));
    }
    assert_eq!(job.all(works)[0], 0);
}

#[test]
fn a_rank_that_does_not_come_ends_all_with_its_name() {
    let job = Job::new();
    let came = job.ranks(5, &[(0, &[], "1"), (1, &[], "1"), (4, &[], "1")]);
    for came in came {
        let error = came.unwrap_err();
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(
            error.to_string().starts_with("ranks 2, 3 of 5 did not come to job job in a room within 30 s"),
            "{error}"
        );
    }
    assert!(job.room.is_empty() && job.clock.elapsed() < Duration::from_secs(45), "{:?}", job.clock.elapsed());
    let alone = Job::new();
    let error = alone.ranks(2, &[(1, &[], "1")]).remove(0).unwrap_err().to_string();
    assert!(error.starts_with("rank 0 of 2 did not come"), "{error}");
}

#[test]
fn another_plan_or_version_is_refused_before_anything_runs() {
    let unlike: [(Given<'_>, &str, &str); 3] = [
        (&[("sessions", "64")], "1", "rank 1 on host-1 has another --sessions than rank 0: "),
        (
            &[("null_latency", "1ms"), ("seed", "7")],
            "1",
            "rank 1 on host-1 has another --seed, --null-latency than rank 0: ",
        ),
        (&[], "2", "rank 1 on host-1 has mindful 2, rank 0 has 1"),
    ];
    for (given, version, message) in unlike {
        let job = Job::new();
        for came in job.ranks(3, &[(0, &[], "1"), (1, given, version), (2, &[], "1")]) {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Plan);
            assert!(error.to_string().starts_with(message), "{error}");
        }
        assert!(job.room.is_empty());
        assert!((0..3).all(|rank| job.store(rank).list().unwrap().is_empty()), "nothing ran");
    }
}

#[test]
fn a_rank_that_is_there_twice_is_refused_and_the_others_go_on() {
    let job = Job::new();
    let mut came = job.ranks(2, &[(0, &[], "1"), (1, &[], "1"), (1, &[], "1")]);
    let twice = came.iter().position(Result::is_err).unwrap();
    let error = came.remove(twice).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Plan);
    assert!(
        error.to_string().contains("rank 1 of job job is there twice: another process is it, on host-1"),
        "{error}"
    );
    assert!(came.into_iter().all(|came| came.is_ok()));
    assert!(job.room.is_empty());
}

#[test]
fn a_rank_that_dies_ends_all_soon() {
    // Before it is ready the others wait for it; afterwards they learn of it when the window is over.
    let long = Duration::from_mins(1);
    for (last, lease, kind, seconds) in [
        (JOINED, LEASE, ErrorKind::Target, 12),
        (r#""stage":"ready""#, LEASE, ErrorKind::Run, 26),
        // In the merge: what it said that it had left is not there.
        (r#""stage":"measured","chunks":2"#, long, ErrorKind::Run, 36),
    ] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            died(&job.room, &job.clock, 2, last, lease);
            None
        })];
        for number in 0..2 {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, &[], "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.to_string().starts_with("rank 2 on host-x is gone: it gave no sign for 8 s"), "{error}");
        }
        assert!(job.room.is_empty());
        assert!(job.clock.elapsed() < Duration::from_secs(seconds), "{last}: {:?}", job.clock.elapsed());
    }
}

#[test]
fn a_session_that_fails_on_one_rank_ends_all_with_its_error() {
    let job = Job::new();
    let fails: &[(&str, &str)] = &[("null_fail", "20@3s")];
    let came = job.ranks(4, &[(0, fails, "1"), (1, fails, "1"), (2, fails, "1"), (3, fails, "1")]);
    for (rank, came) in came.into_iter().enumerate() {
        let error = came.unwrap_err();
        let prefix = if rank == 2 { "session 21: " } else { "rank 2 on host-2: session 21: " };
        assert_eq!(error.kind, ErrorKind::Run);
        assert!(error.to_string().starts_with(prefix), "{rank}: {error}");
    }
    assert!(job.room.is_empty());
}

#[test]
fn a_pod_started_anew_takes_its_place_until_all_have_come() {
    // Before the last one has come a dead process is replaced as soon as its lease is over.
    let job = Job::new();
    let pause = |seconds: i64| job.clock.sleep_unless(job.clock.now_us() + seconds * 1_000_000, &|| false);
    let works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![
        Box::new(|| Some(job.rank(0, 3, &[], "1"))),
        Box::new(|| {
            died(&job.room, &job.clock, 2, JOINED, LEASE);
            Some(job.rank(2, 3, &[], "1"))
        }),
        Box::new(|| {
            pause(12);
            Some(job.rank(1, 3, &[], "1"))
        }),
    ];
    for came in job.all(works).into_iter().flatten() {
        came.unwrap();
    }
    assert!(job.room.is_empty());
    // Afterwards the run has lost a rank, whoever comes in its place.
    let job = Job::new();
    let works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![
        Box::new(|| Some(job.rank(0, 3, &[], "1"))),
        Box::new(|| Some(job.rank(1, 3, &[], "1"))),
        Box::new(|| {
            died(&job.room, &job.clock, 2, JOINED, LEASE);
            Some(job.rank(2, 3, &[], "1"))
        }),
    ];
    let errors: Vec<Error> = job.all(works).into_iter().flatten().map(Result::unwrap_err).collect();
    assert!(errors[..2].iter().all(|error| error.to_string().starts_with("rank 2 on host-x is gone")), "{errors:?}");
    assert_eq!(errors[2].kind, ErrorKind::Target, "{}", errors[2]);
}

#[test]
fn two_jobs_in_one_place_do_not_see_each_other() {
    let job = Job::new();
    let mut works: Vec<Box<dyn FnOnce() -> Came + Send + '_>> = Vec::new();
    for (name, of) in [("one", 2), ("two", 4)] {
        for number in 0..of {
            let job = &job;
            works.push(Box::new(move || job.rank(number, of, &[("job", name)], "1")));
        }
    }
    let came: Vec<Option<Summary>> = job.all(works).into_iter().map(Result::unwrap).collect();
    let reports: Vec<&Summary> = came.iter().flatten().collect();
    let ranks: Vec<usize> = reports.iter().map(|summary| summary.steps[0].ranks.len()).collect();
    assert_eq!(ranks, [2, 4], "each its own");
    assert_eq!(reports[0].steps[0].ops.select, reports[1].steps[0].ops.select, "the same work, however it is shared");
    assert!(job.room.is_empty());
}

#[test]
fn fifty_ranks_are_one_run_and_questions_grow_with_ranks() {
    let calls = [25, 50].map(|of| {
        let job = Job::new();
        let given = [("sessions", "100"), ("warmup", "0s"), ("duration", "2s"), ("null_spread", "0.5")];
        let ranks: Vec<(u32, Given<'_>, &str)> = (0..of).map(|rank| (rank, &given[..], "1")).collect();
        let mut came = job.ranks(of, &ranks).into_iter().map(Result::unwrap);
        let merged = came.next().flatten().unwrap();
        assert!(came.all(|came| came.is_none()) && job.room.is_empty());
        let alone = Simulation::new().run(&[&PLAN[..], &given[..]].concat());
        let (one, all) = (&alone.analysis.summary.steps[0], &merged.steps[0]);
        assert_eq!((all.sessions, all.ranks.len()), (Some(100), of as usize));
        assert_eq!((&one.ops.select, &one.ops.update), (&all.ops.select, &all.ops.update), "counts are added");
        let sessions = |step: &StepRecord| -> Vec<Vec<(u32, u64)>> {
            let sorted = |slice: &MergedSlice| {
                let mut ops: Vec<(u32, u64)> = slice.ops_by_session().collect();
                ops.sort_unstable();
                ops
            };
            step.merged.slices().iter().map(sorted).collect()
        };
        let stored = job.store(0).read(&merged.id).unwrap();
        assert_eq!(sessions(&stored.steps[0]), sessions(&alone.run.steps[0]), "each session's own");
        job.room.traffic().0
    });
    assert!(calls[1] < calls[0] * 5 / 2, "{calls:?}");
}

#[test]
fn a_rank_that_dies_in_a_long_window_ends_all_soon() {
    let long: Given<'_> = &[("duration", "600s")];
    let pause = |job: &Job, seconds: i64| job.clock.sleep_unless(job.clock.now_us() + seconds * 1_000_000, &|| false);
    for killed in [0, 2] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            if killed == 0 {
                first_died(&job, r#""stage":"ready""#, LEASE * 2);
            } else {
                died(&job.room, &job.clock, 2, r#""stage":"ready""#, LEASE);
            }
            None
        })];
        for number in (0..3).filter(|number| *number != killed) {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, long, "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            let gone = format!("rank {killed} on host-x is gone: it gave no sign for 30 s");
            assert!(error.to_string().starts_with(&gone), "{error}");
        }
        assert!(job.room.is_empty(), "{killed}");
        assert!(job.clock.elapsed() < Duration::from_mins(1), "{killed}: {:?}", job.clock.elapsed());
    }
    // A session that fails is no secret until the end either.
    let job = Job::new();
    let fails = [long, &[("null_fail", "20@3s")]].concat();
    for came in job.ranks(2, &[(0, &fails, "1"), (1, &fails, "1")]) {
        assert!(came.unwrap_err().to_string().contains("session 21: "));
    }
    assert!(job.room.is_empty() && job.clock.elapsed() < Duration::from_mins(1), "{:?}", job.clock.elapsed());
    // Signs of life and looks are few: each rank gives one and takes one in ten seconds.
    let job = Job::new();
    let mut works: Vec<Box<dyn FnOnce() -> u64 + Send + '_>> = vec![Box::new(|| {
        pause(&job, 20);
        let before = job.room.traffic().0;
        pause(&job, 100);
        job.room.traffic().0 - before
    })];
    for number in 0..2 {
        let (job, long) = (&job, &[("duration", "150s")]);
        works.push(Box::new(move || job.rank(number, 2, long, "1").map_or(1, |_| 0)));
    }
    let asked = job.all(works);
    assert!(asked[1..] == [0, 0] && (30..=44).contains(&asked[0]), "{asked:?}");
}

/// A first rank that died when its row said `last`, and when all begin; nobody renews that when its `lease` is over.
fn first_died(job: &Job, last: &str, lease: Duration) {
    loop {
        let other = job.room.read_row("job", 1).unwrap().filter(|seen| seen.row.body.contains(JOINED));
        if let Some(other) = other {
            let start_us = job.clock.now_us() + 5_000_000;
            let body = other.row.body.replace(JOINED, &format!("{last},\"start_us\":{start_us}"));
            let row = RankRow { rank: 0, token: "dead".to_owned(), body: body.replace("host-1", "host-x") };
            job.room.claim_rank("job", &row, lease).unwrap();
            return;
        }
        job.clock.sleep_unless(job.clock.now_us() + 10_000, &|| false);
    }
}

#[test]
fn compared_with_one_process_four_ranks_show_no_difference() {
    let value = |run: &Run| value(Figure::Throughput, &analyze(run).steps[0], &run.steps[0]).unwrap();
    let sides = ["1", "2", "3", "4"].map(|seed| {
        let given = [("seed", seed), ("null_spread", "0.5")];
        let job = Job::new();
        let came = job.ranks(4, &[0, 1, 2, 3].map(|rank| (rank, &given[..], "1")));
        let merged = came.into_iter().find_map(Result::unwrap).unwrap();
        let alone = Simulation::new().run(&[&PLAN[..], &given[..]].concat());
        let run = job.store(0).read(&merged.id).unwrap();
        (value(&alone.run), value(&run))
    });
    let (one, four): (Vec<RunValue>, Vec<RunValue>) = sides.into_iter().unzip();
    let answer = compare::runs(&one, &four, &Question::default()).unwrap();
    assert_eq!(answer.verdict, Verdict::NoMeaningfulDifference, "{answer:?}");
}

#[test]
fn the_first_rank_may_die_before_all_are_ready_or_merging() {
    // The window is over 17 s after the others have come: then they have left their parts, and wait for what it says of them.
    for (last, lease, kind, seconds) in [
        (r#""stage":"gathered""#, LEASE * 2, ErrorKind::Target, 30),
        (r#""stage":"ready""#, Duration::from_secs(25), ErrorKind::Run, 40),
    ] {
        let job = Job::new();
        let mut works: Vec<Box<dyn FnOnce() -> Option<Came> + Send + '_>> = vec![Box::new(|| {
            first_died(&job, last, lease);
            if kind == ErrorKind::Run {
                job.clock.sleep_unless(job.clock.now_us() + 20_000_000, &|| false);
                assert!(job.room.traffic().1 > 0, "parts wait to be taken");
            }
            None
        })];
        for number in 1..3 {
            let job = &job;
            works.push(Box::new(move || Some(job.rank(number, 3, &[], "1"))));
        }
        for came in job.all(works).into_iter().flatten() {
            let error = came.unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
            assert!(error.to_string().starts_with("rank 0 on host-x is gone: it gave no sign for 8 s"), "{error}");
        }
        assert!(job.room.is_empty() && job.clock.elapsed() < Duration::from_secs(seconds), "{:?}", job.clock.elapsed());
    }
}

#[test]
fn a_rank_that_is_cut_off_ends_and_so_do_the_others() {
    for cut_off in 0..2 {
        let job = Job { cut_off: Some((cut_off, Duration::from_secs(20))), ..Job::new() };
        let long: Given<'_> = &[("duration", "600s")];
        let came = job.ranks(2, &[(0, long, "1"), (1, long, "1")]);
        for (rank, came) in (0..).zip(came) {
            let error = came.unwrap_err();
            assert_eq!(error.kind, ErrorKind::Run, "{error}");
            let message =
                if rank == cut_off { "the place where ranks meet has not answered for 30 s" } else { "is gone" };
            assert!(error.to_string().contains(message), "{rank}: {error}");
        }
        assert!(job.clock.elapsed() < Duration::from_secs(90), "{:?}", job.clock.elapsed());
    }
}

#[test]
fn what_another_rank_found_stands_in_the_run_of_all() {
    let job = Job::new();
    for came in job.ranks(2, &[(0, &[], "1"), (1, &[], "1")]) {
        came.unwrap();
    }
    let mut parts: Vec<Run> = [0, 1].map(|rank| job.part(rank)).into();
    parts[1].findings = vec![codes::CLOCK_STEP.finding("A clock was set.", "by 300 ms")];
    let all = merge::of_folders(parts).unwrap();
    let (run, analysis) = merge::stored(&job.store(9), all, true).unwrap();
    let of_code =
        |finding: &&Finding| finding.code == "clock-step" && finding.evidence == "rank 1 on host-1: by 300 ms";
    assert_eq!(analysis.summary.findings.iter().filter(of_code).count(), 1, "{:?}", analysis.summary.findings);
    assert!(run.steps[0].ranks.iter().all(|rank| rank.findings.is_empty()), "reported once");
}
