//! Merges the parts of all ranks into one run, in any order.
//!
//! Counts, histograms and slices of ranks are added up. Counters of the target and its host come from the rank that
//! manages the target; only those within each process are added. A run with several targets also contains the run of
//! each target, judged separately, and its own counters are the sums of theirs.

use std::collections::BTreeMap;

use mindful_core::contract::fact::Fact;
use mindful_core::contract::metric::HostSource;
use mindful_core::plan::units::format_counted;
use mindful_core::ranks::{KeptCounters, RankMerge, sum_counters};
use mindful_core::record::run::{RankRecord, RankTarget, Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_record::part::Part;

#[derive(Debug)]
pub struct RunMerge {
    first: Run,
    all: RankMerge,
    /// By their numbers; empty where there is one.
    targets: BTreeMap<u32, TargetMerge>,
}

#[derive(Debug, Default)]
struct TargetMerge {
    /// The run of the rank that manages the target, and the merged step; set when that rank's part has arrived.
    run: Option<(Run, RankMerge)>,
    /// Parts that came before that.
    early: Vec<StepRecord>,
}

impl TargetMerge {
    fn lead(&mut self, run: Run, step: StepRecord, cpus: Option<f64>) -> Result<(), String> {
        let mut gathered = RankMerge::for_target(step, cpus)?;
        for step in std::mem::take(&mut self.early) {
            gathered.add(&step)?;
        }
        self.run = Some((run, gathered));
        Ok(())
    }

    fn add(&mut self, step: StepRecord) -> Result<(), String> {
        if let Some((_, gathered)) = &mut self.run {
            return gathered.add(&step);
        }
        self.early.push(step);
        Ok(())
    }

    fn finish(self) -> Result<Run, String> {
        let (run, gathered) = self.run.ok_or("the rank that managed the target is missing")?;
        Ok(with_findings(run, gathered.finish()?))
    }
}

impl RunMerge {
    /// Starts with the run of rank 0.
    pub(crate) fn new(first: &Run) -> Result<Self> {
        part_of(first)?;
        let step = first.steps.first().cloned().ok_or_else(|| cannot_merge("the first has no step"))?;
        let mut targets = BTreeMap::new();
        let mut all = RankMerge::new(step.clone(), cpus(first)).map_err(cannot_merge)?;
        if target_of(&step).is_some() {
            all.forget_counters();
            let mut own = TargetMerge::default();
            own.lead(Run { steps: Vec::new(), ..first.clone() }, step, cpus(first)).map_err(cannot_merge)?;
            targets.insert(0, own);
        }
        Ok(Self { first: first.clone(), all, targets })
    }

    /// Adds the part of another rank.
    pub(crate) fn add(&mut self, Part { step, lead }: Part) -> Result<(), String> {
        self.all.add(&step)?;
        let Some(RankTarget { target, .. }) = target_of(&step).filter(|_| !self.targets.is_empty()) else {
            return Ok(());
        };
        let of_target = self.targets.entry(target).or_default();
        match lead {
            Some(run) => {
                let cpus = step.ranks.first().and_then(|rank| rank.cpus);
                of_target.lead(run, step, cpus)
            }
            None => of_target.add(step),
        }
    }

    /// The merged run.
    pub(crate) fn finish(self) -> Result<Run, String> {
        let mut step = self.all.finish()?;
        if self.targets.is_empty() {
            return Ok(with_findings(self.first, step));
        }
        let of_target = |(number, target): (u32, TargetMerge)| {
            target.finish().map_err(|why| format!("target {}: {why}", number + 1))
        };
        let targets: Vec<Run> = self.targets.into_iter().map(of_target).collect::<Result<_, _>>()?;
        let (server, host) = (shared_server(&targets), shared_host(&targets));
        let steps: Vec<&StepRecord> = targets.iter().flat_map(|run| &run.steps).collect();
        // A counter that covers two targets would be added twice.
        step.series = sum_counters(&steps, |source| {
            server.is_none() && (host.is_none() || !HostSource::is_of_whole_host(source))
        });
        // The runs of the targets have the findings.
        step.ranks.iter_mut().for_each(|rank| rank.findings.clear());
        let names: Vec<&str> = targets.iter().map(|run| run.head.target.as_str()).collect();
        let mut head = self.first.head.clone();
        head.target = names.join(", ");
        let findings = server.into_iter().chain(host).collect();
        Ok(Run { head, steps: vec![step], findings, shapes: Vec::new(), notes: Vec::new(), targets, ..self.first })
    }
}

/// The part of one rank: its sessions, and its target if it manages one other than the first.
pub fn part_of(run: &Run) -> Result<Part> {
    let [step] = &*run.steps else {
        return Err(cannot_merge(format!("run {} has {}", run.head.id, format_counted(run.steps.len(), "step"))));
    };
    if !step.finished() || step.error.is_some() {
        return Err(cannot_merge(format!("run {} is incomplete", run.head.id)));
    }
    let leads = step.ranks.first().is_some_and(RankRecord::leads_other_target);
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let keeps = match (leads, in_process) {
        (true, _) => KeptCounters::All,
        (false, true) => KeptCounters::InProcess,
        (false, false) => KeptCounters::Nothing,
    };
    let mut step =
        step.to_rank_part(cpus(run), keeps).map_err(|why| cannot_merge(format!("run {}: {why}", run.head.id)))?;
    if leads {
        return Ok(Part { step, lead: Some(Run { steps: Vec::new(), ..run.clone() }) });
    }
    // Findings of rank 0 are in its run, which becomes the merged one.
    for rank in step.ranks.iter_mut().filter(|rank| rank.rank > 0) {
        rank.findings.clone_from(&run.findings);
        rank.findings.extend(mindful_analyze::checks::check_part(run));
    }
    Ok(Part { step, lead: None })
}

fn cpus(run: &Run) -> Option<f64> {
    let fact = |fact: Fact| fact.find(&run.environment).and_then(|cpus| cpus.parse::<f64>().ok());
    fact(Fact::CpusAllowed).or_else(|| fact(Fact::CpuCount)).filter(|cpus| *cpus > 0.0)
}

pub(crate) fn cannot_merge(why: impl std::fmt::Display) -> Error {
    Error::plan(format!("cannot merge these runs: {why}"), "give the folders of all ranks of one run, each once")
}

fn target_of(step: &StepRecord) -> Option<RankTarget> {
    step.ranks.first().and_then(|rank| rank.on_target)
}

/// `run` with the merged step and the findings of its ranks.
fn with_findings(mut run: Run, mut step: StepRecord) -> Run {
    for rank in &mut step.ranks {
        let (number, host) = (rank.rank, rank.host.clone());
        let located =
            |found: Finding| Finding { evidence: format!("rank {number} on {host}: {}", found.evidence), ..found };
        run.findings.extend(std::mem::take(&mut rank.findings).into_iter().map(located));
    }
    run.steps = vec![step];
    run
}

fn shared_server(targets: &[Run]) -> Option<Finding> {
    let instance = |run: &Run| run.description.as_ref().and_then(|description| description.instance.clone());
    let (one, other, _) = two_with_same(targets, instance)?;
    let text = "Two targets belong to one server, which counts its work for both. The run of all has no counters, \
                and those of each target describe both. Name each server once.";
    Some(codes::TARGETS_SHARE_SERVER.finding(text, format!("targets {one} and {other}")))
}

/// A finding if two targets are on one host, with devices and CPUs sampled for both.
fn shared_host(targets: &[Run]) -> Option<Finding> {
    let (one, other, host) = two_with_same(targets, sampled_host)?;
    let text = "Two targets are on one host, so the figures of its devices and CPUs describe both. The run of all \
                does not have them.";
    Some(codes::TARGETS_SHARE_HOST.finding(text, format!("targets {one} and {other} on {host}")))
}

/// The numbers, from 1, of two targets with the same known `property`, and its value.
fn two_with_same(targets: &[Run], property: impl Fn(&Run) -> Option<String>) -> Option<(usize, usize, String)> {
    let mut known: Vec<(usize, String)> = Vec::new();
    for (number, run) in (1..).zip(targets) {
        let Some(own) = property(run) else { continue };
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == own) {
            return Some((*other, number, own));
        }
        known.push((number, own));
    }
    None
}

fn sampled_host(run: &Run) -> Option<String> {
    if let Some(exporter) = run.head.settings.get("node_exporter") {
        return Some(exporter.to_owned());
    }
    let seen = run.host.as_ref().is_some_and(|host| host.local);
    let rank = run.steps.first().and_then(|step| step.ranks.first());
    rank.filter(|_| seen).map(|rank| rank.host.clone())
}
