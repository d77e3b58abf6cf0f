//! The path of a commit: its waits, its volume, and the part that limits it.
//!
//! One log has one sync in progress at a time, so commits per second are syncs per second times the commits that share
//! a sync. Three parts can be the limit: the volume, the duration of a sync, and the sessions that share it.

use std::collections::BTreeSet;

use mindful_core::contract::description::Words;
use mindful_core::contract::fact::Kept;
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::StepSummary;

use crate::figures::caps::Cap;
use crate::figures::floors::places;
use crate::figures::log::is_apart_from_data;
use crate::figures::shares::Shares;
use crate::judgement::durability::Durability;
use crate::judgement::headline::{COMMITS, Headline, HeadlineKind, percent};
use crate::judgement::limit::{FLAT_GAIN, LadderStep, Limit};
use crate::judgement::subject::format_time;

/// Share of the waits for the log that its syncs must explain.
const SYNCING: f64 = 0.5;
/// Commits of one sync by sessions from which the group is full: while one group syncs, the other half of the sessions
/// gathers for the next.
const GROUP_FULL: f64 = 0.4;
/// Fewest sessions of a group.
const FEWEST_IN_GROUP: f64 = 4.0;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommitPath {
    pub sessions: f64,
    pub syncs_per_s: Option<f64>,
    pub commits_per_sync: Option<f64>,
    /// Mean time of a sync as the database saw it, else of a flush at the device, us.
    pub sync_us: Option<f64>,
    /// The volumes of log and data, in words.
    pub volumes: Option<String>,
    /// Whether the log lies on another device than the data.
    pub apart: bool,
    /// The limits that held a device that contains only the log, in words.
    pub held: Option<String>,
}

/// The devices below `kept`.
fn devices(facts: &Facts, kept: Kept) -> BTreeSet<&str> {
    let chains = places(facts, kept).filter_map(|place| facts.get(&format!("{place}.device")));
    chains.flat_map(|chain| chain.split([' ', '<'])).filter(|device| !device.is_empty()).collect()
}

/// `WAL on vdb, data on vda`; `None` if the place of the log is unknown.
fn volumes(facts: &Facts, log: &str) -> Option<String> {
    let volume = |kept: Kept| {
        let place = places(facts, kept).next()?;
        ["device", "memory"].iter().find_map(|end| facts.get(&format!("{place}.{end}"))).cloned()
    };
    let of_log = volume(Kept::Log)?;
    Some(match volume(Kept::Dataset) {
        Some(data) if data == of_log => format!("{log} and data on {data}"),
        Some(data) => format!("{log} on {of_log}, data on {data}"),
        None => format!("{log} on {of_log}"),
    })
}

impl CommitPath {
    /// The commit path of `step`; `caps` are the limits that held.
    pub(crate) fn from_step(run: &Run, step: &StepRecord, summary: &StepSummary, caps: &[&Cap]) -> Self {
        let facts = &run.environment;
        let data = devices(facts, Kept::Dataset);
        let of_log: BTreeSet<_> = devices(facts, Kept::Log).difference(&data).copied().collect();
        let held: Vec<_> = caps.iter().filter(|cap| of_log.contains(&*cap.device)).map(|cap| &*cap.in_words).collect();
        Self {
            sessions: step.head.session_count() as f64,
            syncs_per_s: summary.log.syncs_per_s,
            commits_per_sync: summary.log.commits_per_sync,
            sync_us: summary.log.sync_mean_us.or(summary.log.flush_mean_us),
            apart: is_apart_from_data(facts) == Some(true),
            volumes: volumes(facts, &run.words().log),
            held: (!held.is_empty()).then(|| held.join(", ")),
        }
    }

    /// Duration and effect of one sync.
    fn sync(&self) -> Option<String> {
        let per_sync = self.commits_per_sync?;
        let took = self.sync_us.map(|us| format!("a sync took {} and made", format_time(us)));
        Some(format!("{} {per_sync:.2} commits durable", took.as_deref().unwrap_or("a sync made")))
    }

    /// The limiting part if waits for the log are `share` of the sessions' time, with its figures and the next step. `None`
    /// if syncs do not explain them: the log buffer is full, or sessions wait for a standby.
    pub(crate) fn limit(
        &self,
        share: f64,
        ladder: Option<&(LadderStep, LadderStep)>,
        log: &str,
    ) -> Option<(Limit, String, String)> {
        let (sync, per_sync) = (self.sync()?, self.commits_per_sync?);
        let syncing = self.syncs_per_s.zip(self.sync_us).map(|(rate, us)| rate * us / 1e6);
        if syncing.is_some_and(|syncing| syncing < share * SYNCING) {
            return None;
        }
        Some(if let Some((before, here)) = ladder.filter(|(before, here)| LadderStep::is_flat(before, here)) {
            let more = format!("{:.0} instead of {:.0} sessions gained no more", here.in_flight, before.in_flight);
            let figures = format!("{sync}; {more} (flat within {})", percent(FLAT_GAIN));
            let next = format!(
                "the volume of the {log} is at its limit: a faster one raises the figure, more sessions do not"
            );
            (Limit::LogVolume, figures, next)
        } else if self.sessions >= FEWEST_IN_GROUP && per_sync >= self.sessions * GROUP_FULL {
            let of = format!("of {:.0} sessions (limit {} of them)", self.sessions, percent(GROUP_FULL));
            let next = format!(
                "each sync carries the commits of all sessions that wait: more --sessions enlarge the group, a volume of \
                 the {log} with faster syncs raises the figure at once"
            );
            (Limit::GroupCommit, format!("{sync}, {of}"), next)
        } else {
            let next = format!(
                "a volume of the {log} with faster syncs raises the figure at once; more --sessions share each sync"
            );
            (Limit::SyncLatency, sync, next)
        })
    }

    /// The headline of a step with updates: its commits, their durability, and their waits.
    pub(crate) fn headline(
        &self,
        step: &StepSummary,
        reads: Option<&Headline>,
        durability: &Durability,
        (shares, words): (&Shares, &Words),
    ) -> Option<Headline> {
        let update = step.ops.update.as_ref()?;
        let per_s = step.commits_per_s.filter(|rate| *rate > 0.0)?;
        let took = update.mean_us.map(|mean| {
            let p99 = update.p99_us.map_or_else(String::new, |p99| format!(", {} at p99", format_time(p99)));
            format!("an update took {} on average{p99}", format_time(mean))
        });
        let top =
            shares.top(3).into_iter().map(|(class, share)| format!("{} {}", class.name_in(words), percent(share)));
        let top = top.collect::<Vec<_>>().join(", ");
        let waited = (!top.is_empty()).then(|| format!("database time: {top}"));
        let reads = reads
            .filter(|_| step.ops.select.is_some())
            .map(|of| format!("reads: {} {}", format_rounded(of.per_s), of.label));
        let why: Vec<_> = [took, waited, self.sync(), self.volumes.clone(), reads].into_iter().flatten().collect();
        let [durable, lost, unknown] = COMMITS;
        let label = match durability {
            Durability::Proven | Durability::WriteThrough => durable,
            Durability::Off(_) | Durability::Lost(_) => lost,
            Durability::NotAsked | Durability::NotVisible(_) => unknown,
        };
        Some(Headline { kind: HeadlineKind::Commits, label: label.to_owned(), per_s, why: why.join("; ") })
    }
}
