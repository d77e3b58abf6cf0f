//! Mindless against mindful I/O: the levels from raw reads into unused memory up to a database, and the cost between
//! them.

use std::collections::BTreeMap;

use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::{AddedTime, ContrastSummary, LevelSummary, StepSummary};
use mindful_core::stored_names;

use crate::figures::blocks::block_bytes;
use crate::figures::window::window;
use crate::stats::distribution::t_quantile;
use crate::stats::interval::CONFIDENCE;
use crate::stats::moment::{mean, median, median_and_spread, variance};

/// Key of [`mindful_core::record::run::Point::values`] that names the level of a step.
pub const LEVEL: &str = "rung";
pub const CORES: &str = "cores";
pub const PINNED: &str = "one";
pub const ALL_CORES: &str = "all";

stored_names! {
    /// From least to most work.
    pub enum Level {
        /// Raw reads into a buffer that is not examined.
        Untouched = "raw untouched",
        Byte = "raw, one byte",
        Checksum = "raw, checksum",
        /// Each block copied and its rows walked as a database page.
        Parse = "raw, copied and parsed",
        /// The database, its cache too small: each block is read from storage.
        Physical = "database, physical",
        /// The database, all blocks in its cache.
        Cached = "database, cached",
    }
}

impl Level {
    /// Difference between this level and the one before it, in words; `None` for the first.
    pub(crate) const fn step(self) -> Option<&'static str> {
        match self {
            Self::Untouched => None,
            Self::Byte => Some("the first touch: one cache line of each block is fetched from memory"),
            Self::Checksum => Some("every byte of the block goes through the CPU once"),
            Self::Parse => Some("the block is copied and its rows are found, without the checksum"),
            Self::Physical => Some("the database: buffer cache, locks, index, executor, transaction"),
            Self::Cached => Some("the same database work without the read from storage"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Which repetition, from 0.
    pub repetition: u32,
    pub pinned: bool,
    pub level: Level,
}

/// All measurements of `repetitions`, interleaved. Each repetition visits all levels, pinned (if they `may_pin`) and
/// unpinned, every second one backwards, so that drift affects all levels equally.
pub fn turns(levels: &[Level], may_pin: bool, repetitions: u32) -> Vec<Turn> {
    let cores: &[bool] = if may_pin { &[true, false] } else { &[false] };
    back_and_forth(repetitions, |repetition| {
        let of = |level: &Level| {
            let level = *level;
            cores.iter().map(move |pinned| Turn { repetition, pinned: *pinned, level })
        };
        levels.iter().flat_map(of).collect()
    })
}

/// The turns of all rounds, every second one backwards.
pub(crate) fn back_and_forth<T>(rounds: u32, of_round: impl Fn(u32) -> Vec<T>) -> Vec<T> {
    let in_order = |round: u32| {
        let mut turns = of_round(round);
        if round % 2 == 1 {
            turns.reverse();
        }
        turns
    };
    (0..rounds).flat_map(in_order).collect()
}

/// A step of a level: its record and its figures.
type Reading<'a> = (&'a StepRecord, &'a StepSummary);

/// The medians over the repetitions of a level, with medians that its summary does not show.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figures {
    pub level: LevelSummary,
    /// Time a session needs for a block, us: sessions by blocks per second.
    pub us_per_block: f64,
    /// Time in reads from storage by the reader's own clock, by blocks, us.
    pub storage_us: Option<f64>,
    pub host_busy_share: Option<f64>,
}

impl Figures {
    /// The figures of `readings` of blocks of `block_bytes`; `None` without readings or blocks.
    pub(crate) fn new(level: Level, readings: &[Reading], block_bytes: u64) -> Option<Self> {
        let known = |figure: &dyn Fn(&StepRecord, &StepSummary) -> Option<f64>| -> Vec<f64> {
            readings.iter().filter_map(|(record, step)| figure(record, step)).collect()
        };
        let of_step = |figure: &dyn Fn(&StepSummary) -> Option<f64>| median(&known(&|_, step| figure(step)));
        let (iops, spread) = median_and_spread(&known(&|_, step| step.blocks_visited_per_s))?;
        // Raw sessions report their own CPU; a database's CPU is that of its server.
        let cpu_us_per_block = known(&|record, step| {
            let cores = session_cores(record).or(step.cpu.db_cores)?;
            Some(1e6 * cores / step.blocks_visited_per_s?)
        });
        // Below the kernel's unit of CPU time.
        let cpu_us_per_block = median(&cpu_us_per_block).filter(|us| *us > 0.0);
        (iops > 0.0).then_some(Self {
            level: LevelSummary {
                name: level.name().to_owned(),
                iops,
                mib_per_s: iops * block_bytes as f64 / f64::from(1 << 20),
                p50_us: of_step(&|step| step.ops.select.as_ref()?.p50_us),
                p99_us: of_step(&|step| step.ops.select.as_ref()?.p99_us),
                cpu_us_per_block,
                iops_per_core: cpu_us_per_block.map(|us| 1e6 / us),
                spread,
                means: None,
            },
            us_per_block: of_step(&|step| Some(1e6 * f64::from(step.sessions?) / step.blocks_visited_per_s?))?,
            storage_us: of_step(&|step| {
                Some(step.read_latency_mean_us? * step.physical_reads_per_s? / step.blocks_visited_per_s?)
            }),
            host_busy_share: of_step(&|step| step.cpu.host_busy_share),
        })
    }
}

/// The database's physical reads against raw reads untouched, both at the same concurrency: the ratio of the rates
/// `eta = X_db / X_raw`, and the time added to a block `o = N / X_db - N / X_raw`, us, with `N` sessions, each with one
/// block at a time.
fn overhead(raw: &Figures, physical: &Figures) -> [f64; 2] {
    [physical.level.iops / raw.level.iops, physical.us_per_block - raw.us_per_block]
}

/// Interval of the true ratio of database to raw, from its values in two or more rounds: Student's t on logarithms.
/// Drift between rounds does not matter, because both sides are of the same round. `None` with fewer rounds.
pub(crate) fn eta_interval(by_round: &[f64]) -> Option<[f64; 2]> {
    let logarithms: Vec<f64> = by_round.iter().map(|ratio| ratio.ln()).collect();
    let (middle, variance) = (mean(&logarithms)?, variance(&logarithms)?);
    let t = t_quantile(f64::midpoint(1.0, CONFIDENCE), (by_round.len() - 1) as f64);
    let half = t * (variance / by_round.len() as f64).sqrt();
    half.is_finite().then(|| [(middle - half).exp(), (middle + half).exp()])
}

/// Parts of the time that the database adds to a block: `o = dS + C + W`. `dS` is the difference of the times in reads
/// from storage. `C = min(dC, o - dS)` is CPU, limited because CPU within a read is part of its time. `W` is waiting.
/// `None` if either side does not time its reads or does not report its CPU.
pub(crate) fn added(raw: &Figures, physical: &Figures) -> Option<AddedTime> {
    let storage_us = physical.storage_us? - raw.storage_us?;
    let rest_us = physical.us_per_block - raw.us_per_block - storage_us;
    let cpu_us = (physical.level.cpu_us_per_block? - raw.level.cpu_us_per_block?).min(rest_us);
    Some(AddedTime { storage_us, cpu_us, waits_us: rest_us - cpu_us, host_busy_share: physical.host_busy_share })
}

/// Meaning of the difference between a level and the one before it, in a sentence; `None` for the first level.
pub(crate) fn difference(level: Level, before: &Figures, now: &Figures) -> Option<String> {
    let (step, before, now) = (level.step()?, &before.level, &now.level);
    let cpu = now.cpu_us_per_block.zip(before.cpu_us_per_block);
    let cpu = cpu.map_or_else(String::new, |(now, before)| format!("{:+.2} us of CPU per block, ", now - before));
    let rate = now.iops / before.iops;
    let noise = before.spread.max(now.spread);
    let rates = if (rate - 1.0).abs() <= noise {
        "the rate is the same within the spread".to_owned()
    } else {
        format!("{rate:.2} times the rate")
    };
    Some(format!("{}: {step}; {cpu}{rates}", level.name()))
}

/// The contrast in the steps of `run`; `None` if they do not form one.
pub(crate) fn contrast(run: &Run, steps: &[StepSummary]) -> Option<ContrastSummary> {
    let block_bytes = block_bytes(run)?;
    let mut readings: BTreeMap<(&str, &str), Vec<Reading>> = BTreeMap::new();
    let mut by_round: BTreeMap<(&str, u32), f64> = BTreeMap::new();
    for (record, step) in run.steps.iter().zip(steps) {
        let value = |key: &str| step.point.values.get(key).map(String::as_str);
        let iops = step.blocks_visited_per_s.filter(|_| step.sessions.is_some() && step.ops.select.is_some());
        if let (Some(level), Some(cores), Some(iops)) = (value(LEVEL), value(CORES), iops) {
            readings.entry((cores, level)).or_default().push((record, step));
            if cores == ALL_CORES {
                by_round.insert((level, step.point.pass), iops);
            }
        }
    }
    let figures = |cores: &str, level: Level| Figures::new(level, readings.get(&(cores, level.name()))?, block_bytes);
    let levels = |cores: &str| -> Vec<LevelSummary> {
        let known: Vec<_> = Level::ALL.iter().filter_map(|level| Some((*level, figures(cores, *level)?))).collect();
        let means = |at: usize| difference(known[at].0, &known[at.checked_sub(1)?].1, &known[at].1);
        let levels = known.iter().enumerate();
        levels.map(|(at, (_, figures))| LevelSummary { means: means(at), ..figures.level.clone() }).collect()
    };
    let (pinned, all_cores) = (levels(PINNED), levels(ALL_CORES));
    if pinned.is_empty() && all_cores.is_empty() {
        return None;
    }
    let both = figures(ALL_CORES, Level::Untouched).zip(figures(ALL_CORES, Level::Physical));
    let over = both.as_ref().map(|(raw, physical)| overhead(raw, physical));
    let raw_of = |pass: u32| by_round.get(&(Level::Untouched.name(), pass));
    let physical = by_round.iter().filter(|((level, _), _)| *level == Level::Physical.name());
    let etas: Vec<f64> = physical.filter_map(|((_, pass), iops)| Some(iops / raw_of(*pass)?)).collect();
    let summary = ContrastSummary {
        pinned: (!pinned.is_empty()).then_some(pinned),
        all_cores,
        eta: over.map(|[eta, _]| eta),
        eta_interval: eta_interval(&etas),
        added_us_per_block: over.map(|[_, added]| added),
        added: None,
    };
    // A difference that may be noise has no parts.
    let apart = both.filter(|_| summary.differs() != Some(false));
    Some(ContrastSummary { added: apart.and_then(|(raw, physical)| added(&raw, &physical)), ..summary })
}

/// Cores' worth of CPU of the sessions' own threads in the window; `None` if they do not report it.
fn session_cores(record: &StepRecord) -> Option<f64> {
    let seconds = window(record)?.seconds();
    let slices = record.reports().filter(|report| report.index >= record.head.warmup_slices);
    let cpu: Option<u64> = slices.map(|report| report.cpu_us).try_fold(0, |all: u64, us| Some(all.saturating_add(us?)));
    cpu.map(|us| us as f64 / 1e6 / seconds).filter(|cores| *cores > 0.0)
}

#[cfg(test)]
mod tests {
    use mindful_core::result::OpSummary;

    use super::*;

    fn figures(iops: &[f64], cpu_us: f64) -> Figures {
        let step = |iops: &f64| {
            let mut step =
                StepSummary { sessions: Some(1), blocks_visited_per_s: Some(*iops), ..StepSummary::default() };
            step.ops.select = Some(OpSummary { p50_us: Some(90.0), ..OpSummary::default() });
            step.cpu.db_cores = Some(cpu_us * iops / 1e6);
            step
        };
        let (record, steps) = (StepRecord::default(), iops.iter().map(step).collect::<Vec<_>>());
        let readings: Vec<Reading> = steps.iter().map(|step| (&record, step)).collect();
        Figures::new(Level::Untouched, &readings, 8_192).unwrap()
    }

    fn with_cpu(figures: &Figures, cpu_us_per_block: Option<f64>) -> Figures {
        Figures { level: LevelSummary { cpu_us_per_block, ..figures.level.clone() }, ..figures.clone() }
    }

    #[test]
    fn every_level_comes_as_often_pinned_as_not_and_early_as_late() {
        let turns = super::turns(&Level::ALL, true, 4);
        assert_eq!(turns.len(), 48);
        for level in Level::ALL {
            let places: Vec<usize> = (0..48).filter(|i| turns[*i].level == level).collect();
            assert_eq!(places.len(), 8);
            assert_eq!(places.iter().sum::<usize>(), 8 * 47 / 2, "{level:?}: its mean place is the middle");
            assert_eq!(turns.iter().filter(|t| t.level == level && t.pinned).count(), 4);
        }
    }

    #[test]
    fn without_pinning_every_level_is_measured_on_all_cores_alone() {
        let turns = turns(&[Level::Untouched, Level::Physical], false, 2);
        let places: Vec<_> = turns.iter().map(|turn| (turn.level, turn.pinned)).collect();
        let (raw, database) = ((Level::Untouched, false), (Level::Physical, false));
        assert_eq!(places, [raw, database, database, raw]);
    }

    #[test]
    fn figures_are_medians_with_their_spread() {
        let f = figures(&[1_000.0, 1_200.0, 1_100.0], 4.0).level;
        assert!((f.iops - 1_100.0).abs() < 1e-9 && (f.iops_per_core.unwrap() - 250e3).abs() < 1e-6, "{f:?}");
        assert!((f.spread - 200.0 / 1_100.0).abs() < 1e-12);
        assert!((f.mib_per_s - 1_100.0 / 128.0).abs() < 1e-9);
        assert_eq!(Figures::new(Level::Untouched, &[], 8_192), None);
        let unseen = figures(&[1_000.0], 0.0).level;
        assert_eq!((unseen.cpu_us_per_block, unseen.iops_per_core), (None, None));
        assert_eq!((unseen.p50_us, unseen.p99_us, unseen.iops), (Some(90.0), None, 1_000.0), "too short for a p99");
    }

    #[test]
    fn a_difference_within_the_spread_does_not_count() {
        let (a, b) = (figures(&[1_000.0, 1_100.0], 4.0), figures(&[1_010.0, 1_080.0], 4.5));
        let text = difference(Level::Checksum, &a, &b).unwrap();
        assert!(text.contains("+0.50 us of CPU") && text.contains("same within the spread"), "{text}");
        let slow = figures(&[500.0, 510.0], 20.0);
        assert!(difference(Level::Physical, &b, &slow).unwrap().contains("0.48 times the rate"));
        assert_eq!(difference(Level::Untouched, &a, &b), None);
        let unseen = with_cpu(&slow, None);
        let text = difference(Level::Physical, &b, &unseen).unwrap();
        assert!(!text.contains("us of CPU") && text.contains("0.48 times the rate"), "{text}");
    }

    #[test]
    fn eta_and_the_added_time_are_of_equal_concurrency() {
        let raw = Figures { us_per_block: 100.0, ..figures(&[1_000.0], 4.0) };
        let physical = Figures { us_per_block: 130.0, ..figures(&[800.0], 20.0) };
        let [eta, added] = overhead(&raw, &physical);
        assert_eq!((eta, added), (0.8, 30.0));
    }

    #[test]
    fn one_round_has_no_interval_and_noisy_rounds_have_a_wide_one() {
        assert_eq!((eta_interval(&[]), eta_interval(&[1.11])), (None, None));
        let [low, high] = eta_interval(&[0.79, 0.80, 0.81]).unwrap();
        assert!(low > 0.75 && low < 0.8 && high > 0.8 && high < 0.85, "{low} to {high}");
        let [low, high] = eta_interval(&[0.9, 1.11, 1.05]).unwrap();
        assert!(low < 1.0 && high > 1.0, "{low} to {high}");
    }

    #[test]
    fn the_added_time_is_reported_in_parts_that_add_up() {
        let raw = Figures { us_per_block: 100.0, storage_us: Some(98.0), ..figures(&[1_000.0], 5.0) };
        let physical = Figures { us_per_block: 150.0, storage_us: Some(110.0), ..figures(&[600.0], 20.0) };
        let parts = added(&raw, &physical).unwrap();
        assert_eq!((parts.storage_us, parts.cpu_us, parts.waits_us), (12.0, 15.0, 23.0));
        let parts = added(&raw, &with_cpu(&physical, Some(60.0))).unwrap();
        assert_eq!((parts.cpu_us, parts.waits_us), (38.0, 0.0), "the other CPU is within the reads");
        assert_eq!(added(&raw, &with_cpu(&physical, None)), None);
        assert_eq!(added(&Figures { storage_us: None, ..raw }, &physical), None);
    }
}
