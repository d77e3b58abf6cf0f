//! The cost for the first of many ranks to meet the others and to merge their parts, in one process and in simulated
//! time: `cargo run -p mindful-ranks --features benchmarks --example many_ranks -- RANKS SESSIONS SECONDS`, with the
//! sessions of each rank. Only the sessions of one rank are simulated; each other rank publishes the same work as its
//! own. Chunks are in files, as elsewhere on the server, so the reported memory is that of the first rank and of the
//! threads of the others.
#![expect(clippy::print_stdout, reason = "its figures are its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark that cannot continue fails")]

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mindful_core::contract::clock::Clock;
use mindful_core::ranks::rendezvous::{PeerRow, RankRow, Rendezvous};
use mindful_core::record::run::{RankRecord, Run};
use mindful_core::{Error, Result};
use mindful_null::InMemoryRendezvous;
use mindful_ranks::{JoinRequest, RankCoordinator, store_merged};
use mindful_record::{Store, part};

use job::{Job, Work};

#[expect(dead_code, reason = "tests use more of it")]
#[path = "../tests/it/job.rs"]
mod job;

fn main() -> Result<()> {
    let arguments: Vec<u32> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let [ranks, sessions, seconds] = *arguments else {
        return Err(Error::plan("many_ranks", "give RANKS SESSIONS SECONDS"));
    };
    // Some 100 operations a second and session, of very different length.
    let (of_each, duration) = (sessions.to_string(), format!("{seconds}s"));
    let given = [("sessions", &*of_each), ("duration", &*duration), ("warmup", "0s"), ("null_spread", "0.5")];
    let run = Job::new().alone(&[&given[..], &[("work_unit", "64")]].concat()).run;
    let (job, folder, before) = (Job::new(), tempfile::tempdir().unwrap(), peak_mib());
    let rendezvous: Arc<dyn Rendezvous> =
        Arc::new(Shelved { rendezvous: Arc::clone(&job.rendezvous), folder: folder.path().to_owned() });
    let rank = |number: u32| {
        let request = JoinRequest {
            rendezvous: Arc::clone(&rendezvous),
            timeout: Duration::from_mins(2),
            ..job.join_request(&job.context(number, &[]), number, ranks, "1")
        };
        if number == 0 { first_rank(request, &job.store(0), &run) } else { other_rank(request, &run) }
    };
    let rank = |number| Box::new(move || rank(number)) as Work<'_, Result<String>>;
    let figures = job.all((0..ranks).map(rank).collect()).swap_remove(0)?;
    let peak = peak_mib();
    println!(
        "{ranks} ranks of {sessions} sessions for {seconds} s: {figures}; {peak:.0} MiB at most, {before:.0} before"
    );
    Ok(())
}

fn part_of(run: &Run, rank: u32, of: u32) -> Run {
    let mut run = run.clone();
    for step in &mut run.steps {
        let sessions = step.head.placements.len() as u32;
        let cpu_us =
            (0..step.boundaries_us.len() as u32).map(|boundary| (boundary, f64::from(boundary) * 1e5)).collect();
        step.ranks = vec![RankRecord {
            rank,
            ranks: of,
            job: "job".to_owned(),
            host: format!("host-{rank}"),
            first_session: rank * sessions,
            sessions,
            clock_offset_us: Some(0),
            clock_within_us: Some(100),
            cpus: Some(2.0),
            cpu_us,
            ..RankRecord::default()
        }];
    }
    run
}

/// Joins, leaves its part, and ends when the first one has reported.
fn other_rank(request: JoinRequest, run: &Run) -> Result<String> {
    let (rank, of) = (request.rank.number, request.rank.count);
    let coordinator = RankCoordinator::join(request)?;
    coordinator.gather()?;
    coordinator.target_prepared()?;
    coordinator.ready(Duration::ZERO)?;
    let part = mindful_ranks::part_of(&part_of(run, rank, of))?;
    coordinator.leave_part(&part::pack(&part)?)?;
    drop(part);
    coordinator.end(false).map(|_| String::new())
}

/// The first rank, which merges; reports the cost.
fn first_rank(request: JoinRequest, store: &Store, run: &Run) -> Result<String> {
    let (of, rendezvous, job, began) =
        (request.rank.count, Arc::clone(&request.rendezvous), request.job.clone(), cpu());
    let clock = Arc::clone(&request.clock);
    let coordinator = RankCoordinator::join(request)?;
    coordinator.gather()?;
    coordinator.target_prepared()?;
    coordinator.ready(Duration::ZERO)?;
    let met = cpu();
    let own = part_of(run, 0, of);
    // When all have published, it waits for no other rank: from here on the wall-clock time is its own.
    await_parts(&rendezvous, &job, of, &*clock)?;
    let (cpu_before, began_merge) = (cpu(), Instant::now());
    let all = coordinator.collect(&own)?;
    let (collected, taken) = (cpu(), began_merge.elapsed());
    let chunk = rendezvous.read_chunk(&job, 1, 0)?.map_or(0, |chunk| chunk.len());
    let (_, analysis) = store_merged(store, all, true)?;
    let (stored, done) = (cpu(), began_merge.elapsed());
    coordinator.end(true)?;
    let step = &analysis.summary.steps[0];
    Ok(format!(
        "CPU of rank 0 to meet {:.2?}, to take parts {:.2?}, to store and judge {:.2?}; by the wall {:.2?} and {:.2?}; the \
         first chunk of a part {} KiB; {} sessions, {} ranks",
        met.saturating_sub(began),
        collected.saturating_sub(cpu_before),
        stored.saturating_sub(collected),
        taken,
        done.saturating_sub(taken),
        chunk >> 10,
        step.sessions.unwrap_or(0),
        step.ranks.len(),
    ))
}

/// Waits until each other rank has left its part.
fn await_parts(rendezvous: &Arc<dyn Rendezvous>, job: &str, of: u32, clock: &dyn Clock) -> Result<()> {
    let left = |seen: &&PeerRow| seen.row.body.contains("\"stage\":\"measured\"");
    while rendezvous.read_rows(job)?.iter().filter(left).count() + 1 < of as usize {
        clock.sleep_unless(clock.now_us() + 500_000, &|| false);
    }
    Ok(())
}

fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(text.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0))
}

/// The most memory that this process had at once, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok()).map_or(0.0, |kib| kib / 1024.0)
}

/// A rendezvous with its chunks in files.
struct Shelved {
    rendezvous: Arc<InMemoryRendezvous>,
    folder: PathBuf,
}

impl Shelved {
    fn chunk(&self, rank: u32, chunk: u32) -> PathBuf {
        self.folder.join(format!("part-{rank}-{chunk}"))
    }
}

impl Rendezvous for Shelved {
    fn location(&self) -> String {
        self.rendezvous.location()
    }

    fn now_us(&self) -> Result<i64> {
        self.rendezvous.now_us()
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        self.rendezvous.claim_rank(job, row, lease)
    }

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        self.rendezvous.update_row(job, row, lease)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
        self.rendezvous.read_rows(job)
    }

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        self.rendezvous.read_row(job, rank)
    }

    fn write_chunk(&self, _job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        let sent = std::fs::write(self.chunk(rank, chunk), bytes);
        sent.map_err(|error| Error::run(format!("a chunk: {error}"), "check the folder for temporary files"))
    }

    fn read_chunk(&self, _job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        Ok(std::fs::read(self.chunk(rank, chunk)).ok())
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        self.rendezvous.remove_rows(job, rank)
    }
}
