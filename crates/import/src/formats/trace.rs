//! 10046 traces, level 8 or 12, of any size: streamed, every wait with its microseconds.

mod consistency;
mod read;

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use mindful_core::contract::metric::{Counter, Metric};
use mindful_core::contract::wait::{TIMES, WaitClass};
use mindful_core::plan::units::{format_counted, format_whole};
use mindful_core::record::latency::Recorder;
use mindful_core::result::finding::codes;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};
use mindful_oracle_terms as oracle;

use super::format::Format;
use crate::old_step::{Growth, OldStep};
use crate::waits::{Blocks, Wait, WaitKind};
use consistency::Consistency;
pub(crate) use read::block_bytes;
use read::{Call, Line};

/// Output of a session with event 10046.
pub(crate) static TRACE: Format = Format {
    what: "10046 trace",
    // By lines that no other trace has.
    recognises: |head| {
        head.lines().any(|line| {
            let cursor = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
            let wait = line.strip_prefix("WAIT #").is_some_and(|rest| cursor(rest) && rest.contains(": nam='"));
            let parsing = line.strip_prefix("PARSING IN CURSOR #").is_some_and(cursor);
            let called = ["PARSE #", "EXEC #", "FETCH #"].iter().filter_map(|call| line.strip_prefix(call));
            wait || parsing || called.into_iter().any(|rest| cursor(rest) && rest.contains(":c="))
        })
    },
    read: |name, input| {
        let mut collected = Collected::default();
        let damaged = read::lines(name, input, |line| collected.add(&line))?;
        let mut step = collected.step(name, damaged)?;
        step.add_damage(damaged, "line");
        Ok(vec![step])
    },
};

/// Passes each wait in the file `name` to `add`; returns the number of damaged lines.
pub(crate) fn waits(name: &str, input: &mut dyn BufRead, mut add: impl FnMut(&Wait<'_>)) -> Result<u64> {
    let mut any = false;
    let damaged = read::lines(name, input, |line| {
        if let Line::Wait(wait) = line {
            any = true;
            add(&wait);
        }
    })?;
    if any { Ok(damaged) } else { Err(no_wait(name, damaged)) }
}

/// Most slices; longer traces have longer ones.
const MOST_SLICES: u64 = 2_048;
const MOST_EVENTS: usize = 1_024;

#[derive(Default)]
struct Collected {
    instance: Option<String>,
    release: Option<String>,
    slices: Slices,
    /// Time by event, us.
    waits: HashMap<Vec<u8>, u64>,
    reads: [(u64, Blocks); 4],
    block_bytes: Option<u64>,
    /// The number of calls, and the first of each kind.
    calls: BTreeMap<String, (u64, Call)>,
    single_us: u64,
    clockless: u64,
    consistency: Consistency,
}

impl Collected {
    fn add(&mut self, line: &Line<'_>) {
        match line {
            Line::Wait(wait) => {
                self.consistency.wait(wait);
                self.wait(wait);
            }
            Line::Call(kind, call) => {
                self.consistency.call(call);
                self.call(kind, call);
            }
            Line::Session(id) => self.consistency.session(id),
            Line::Head(text) => {
                let text = String::from_utf8_lossy(text);
                if let Some(name) = text.strip_prefix("Instance name:") {
                    self.instance.get_or_insert_with(|| name.trim().to_owned());
                } else if let Some((_, release)) = text.split_once("Release ") {
                    let release = release.split([' ', '-']).next().unwrap_or_default();
                    self.release.get_or_insert_with(|| release.to_owned());
                }
            }
        }
    }

    fn wait(&mut self, wait: &Wait<'_>) {
        if let Some(us) = self.waits.get_mut(wait.event) {
            *us = us.saturating_add(wait.ela_us);
        } else if self.waits.len() < MOST_EVENTS {
            self.waits.insert(wait.event.to_vec(), wait.ela_us);
        }
        self.clockless += u64::from(wait.tim_us.is_none());
        let end_us = wait.tim_us.unwrap_or(self.slices.last_us.saturating_add(wait.ela_us));
        let Some(kind) = WaitKind::of(wait) else { return self.slices.extend(end_us, wait.ela_us) };
        self.block_bytes = self.block_bytes.or_else(|| wait.block_bytes());
        let blocks = wait.blocks(self.block_bytes).unwrap_or(u64::from(kind == WaitKind::Single));
        let (reads, all_blocks) = &mut self.reads[kind as usize];
        *reads += 1;
        all_blocks.add(wait);
        if kind == WaitKind::Single {
            self.single_us = self.single_us.saturating_add(wait.ela_us);
        }
        self.slices.add(end_us, wait.ela_us, kind == WaitKind::Single, blocks);
    }

    fn call(&mut self, kind: &[u8], call: &Call) {
        let kind = String::from_utf8_lossy(kind).into_owned();
        if self.calls.len() < MOST_EVENTS || self.calls.contains_key(&kind) {
            self.calls.entry(kind).or_insert((0, *call)).0 += 1;
        }
    }

    fn step(mut self, name: &str, damaged: u64) -> Result<OldStep> {
        if self.waits.is_empty() {
            return Err(no_wait(name, damaged));
        }
        let Some((begin_us, boundaries)) = self.slices.boundaries() else {
            return Err(Error::run(format!("{name} covers no time"), "trace a session while it works"));
        };
        let instance = self.instance.as_deref().unwrap_or("?");
        let mut step = OldStep::of_oracle(name, "10046 trace", format!("oracle: a session of instance {instance}"));
        step.version.clone_from(&self.release);
        step.began_us = Some(begin_us).filter(|us| *us > 631_152_000_000_000);
        step.sessions = Some(1).filter(|_| self.consistency.is_of_one_session());
        step.facts = self.facts();
        let slices = boundaries.len() as u64 - 1;
        step.set_boundaries(boundaries);
        for (index, slice) in std::mem::take(&mut self.slices.by_index) {
            // An event that ends on the last boundary belongs to the slice before it.
            let index = index.min(slices - 1) as usize;
            for (kind, (mut latencies, blocks)) in [OpKind::Select, OpKind::Scan].into_iter().zip(slice) {
                step.add_slice(index, kind, latencies.drain(), blocks);
            }
        }
        step.add_counters("trace", self.counters());
        step.add_metrics(TIMES, self.wait_times());
        self.add_findings(&mut step);
        Ok(step)
    }

    fn facts(&self) -> BTreeMap<String, String> {
        let fact = |(kind, (count, Call { physical, consistent, ela_us, cpu_us, .. })): (&String, &(u64, Call))| {
            let first = format!("the first p={physical} cr={consistent} e={ela_us} c={cpu_us}");
            (format!("calls {kind}"), format!("{count}; {first}"))
        };
        self.calls.iter().map(fact).collect()
    }

    fn counters(&self) -> Vec<Growth> {
        let reads = self.reads.iter().map(|(reads, _)| *reads as f64).sum::<f64>();
        let single = self.reads[WaitKind::Single as usize].0 as f64;
        let cpu = self.consistency.of_calls(|calls| calls.cpu_us);
        let waited: f64 = self.times().map(|(_, us)| us as f64).sum();
        vec![
            (Counter::LogicalReads, "blocks", "cr and cu of calls", self.consistency.of_calls(|calls| calls.visited)),
            (Counter::PhysicalReads, "blocks", "blocks of waits for reads", self.blocks()),
            (Counter::ReadRequests, "1", "waits for reads", Some(reads)),
            (Counter::SingleReads, "1", "waits for a block", Some(single)),
            (Counter::SingleReadTimeUs, "us", "time of these waits", Some(self.single_us as f64)),
            (Counter::ServerCpuUs, "us", "CPU of calls", cpu),
            (Counter::BusyTimeUs, "us", "waits and CPU", cpu.map(|cpu| cpu + waited)),
        ]
    }

    /// Blocks of all reads that show them; `None` if some show bytes and the length of a block is unknown.
    fn blocks(&self) -> Option<f64> {
        let of = |(reads, blocks): &(u64, Blocks)| match (*reads, *blocks == Blocks::default()) {
            (0, _) | (_, true) => Some(0.0),
            _ => blocks.total(self.block_bytes).map(|blocks| blocks as f64),
        };
        self.reads.iter().map(of).sum()
    }

    fn times(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let named = self.waits.iter().map(|(event, us)| (String::from_utf8_lossy(event).into_owned(), *us));
        named.filter(|(event, _)| oracle::class(event) != WaitClass::Idle)
    }

    fn wait_times(&self) -> Vec<(Metric, Option<f64>)> {
        let mut times: Vec<_> = self.times().map(|(event, us)| (event, us as f64)).collect();
        times.extend(self.consistency.of_calls(|calls| calls.cpu_us).map(|us| ("DB CPU".to_owned(), us)));
        times.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let metric =
            |event: &str| Metric::counter(oracle::class(event).counter_name(event), "us", "time of the session");
        times.into_iter().map(|(event, us)| (metric(&event), Some(us))).collect()
    }

    fn add_findings(&self, step: &mut OldStep) {
        step.add_contradictions(self.consistency.contradictions());
        let parallel = self.reads[WaitKind::Parallel as usize];
        let reads: u64 = self.reads.iter().map(|(reads, _)| reads).sum();
        if parallel.0 > 0 {
            let text = "The session read ahead: several blocks at once that are not neighbours. These are not the single \
                        random reads of the method.";
            let blocks = parallel.1.total(self.block_bytes).unwrap_or(0);
            let evidence = format!(
                "{} of {}, {}",
                format_whole(parallel.0),
                format_counted(reads, "read"),
                format_counted(blocks, "block")
            );
            step.add_finding(codes::PREFETCHED, text, evidence);
        }
        if !self.consistency.is_of_one_session() {
            let text = "The trace combines several sessions: their times are added, and the number of concurrent sessions is \
                        unknown.";
            step.add_finding(codes::IMPORTED_FIGURES, text, step.file.clone());
        }
        if self.clockless > 0 {
            let text =
                "Waits have no time stamp: the trace is of an old release, and its length is the sum of its waits.";
            step.add_finding(codes::IMPORTED_FIGURES, text, format!("{} waits", self.clockless));
        }
    }
}

struct Slices {
    width_us: u64,
    /// Begin of the slice of index 0.
    base_us: Option<u64>,
    last_us: u64,
    by_index: BTreeMap<u64, [(Recorder, u64); 2]>,
}

impl Default for Slices {
    fn default() -> Self {
        Self { width_us: 1_000_000, base_us: None, last_us: 0, by_index: BTreeMap::new() }
    }
}

impl Slices {
    fn extend(&mut self, end_us: u64, ela_us: u64) {
        let base = *self.base_us.get_or_insert(end_us.saturating_sub(ela_us));
        // A clock that goes back does not move the end.
        self.last_us = self.last_us.max(end_us.max(base));
        while (self.last_us - base) / self.width_us >= MOST_SLICES {
            self.width_us *= 2;
            for (index, slice) in std::mem::take(&mut self.by_index) {
                let into = self.by_index.entry(index / 2).or_default();
                for (into, (mut latencies, blocks)) in into.iter_mut().zip(slice) {
                    into.0.merge(&latencies.drain());
                    into.1 = into.1.saturating_add(blocks);
                }
            }
        }
    }

    fn add(&mut self, end_us: u64, ela_us: u64, single: bool, blocks: u64) {
        self.extend(end_us, ela_us);
        let base = self.base_us.unwrap_or(0);
        let index = end_us.saturating_sub(base) / self.width_us;
        let (latencies, read) = &mut self.by_index.entry(index).or_default()[usize::from(!single)];
        latencies.record(ela_us.saturating_mul(1_000));
        *read = read.saturating_add(blocks);
    }

    /// The begin and all boundaries; `None` if no time passed.
    fn boundaries(&self) -> Option<(i64, Vec<i64>)> {
        let base = self.base_us?;
        let whole = (self.last_us - base) / self.width_us;
        let boundary = |index: u64| i64::try_from(base + index * self.width_us).ok();
        let mut boundaries = (0..=whole).map(boundary).collect::<Option<Vec<_>>>()?;
        let end = i64::try_from(self.last_us).ok()?;
        if boundaries.last().is_some_and(|last| *last < end) {
            boundaries.push(end);
        }
        (boundaries.len() > 1).then_some((boundaries[0], boundaries))
    }
}

fn no_wait(name: &str, damaged: u64) -> Error {
    let but = if damaged == 0 { String::new() } else { format!(", with {}", format_counted(damaged, "damaged line")) };
    Error::run(format!("{name} is a trace without a wait{but}"), "trace with level 8 or 12: waits => TRUE")
}
