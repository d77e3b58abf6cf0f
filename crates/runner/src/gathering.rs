//! The parts of all ranks as they come: the run of all, and where it has several targets, the run of each.

use std::collections::BTreeMap;

use mindful_core::contract::fact;
use mindful_core::contract::metric::source::HOST_SOURCES;
use mindful_core::ranks::rank_merge::{KeptCounters, RankMerge};
use mindful_core::ranks::target_totals::sum_counters;
use mindful_core::record::run::{RankRecord, RankTarget, Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_record::part::Part;

/// See the [module](self).
#[derive(Debug)]
pub struct Gathering {
    /// The run of rank 0.
    first: Run,
    all: RankMerge,
    /// By their numbers; empty where there is one.
    targets: BTreeMap<u32, OfTarget>,
}

/// A target as far as its ranks have come.
#[derive(Debug, Default)]
struct OfTarget {
    /// Once the rank has come that looked after it: its run, and what its ranks did.
    run: Option<(Run, RankMerge)>,
    /// What came before that rank.
    early: Vec<StepRecord>,
}

impl OfTarget {
    fn lead(&mut self, run: Run, step: StepRecord) -> Result<(), String> {
        let cpus = step.ranks.first().and_then(|rank| rank.cpus);
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

    /// The run of its ranks.
    fn finish(self) -> Result<Run, String> {
        let (run, gathered) = self.run.ok_or("the rank is missing that looked after it")?;
        Ok(with_findings(run, gathered.finish()?))
    }
}

impl Gathering {
    /// From the run of rank 0, with all its counters.
    ///
    /// # Errors
    /// It is none of a rank's, or did not come to its end.
    pub fn new(first: &Run) -> Result<Self> {
        part_of(first)?;
        let step = first.steps.first().cloned().ok_or_else(|| refused("the first has no step"))?;
        let mut targets = BTreeMap::new();
        let mut all = RankMerge::new(step.clone(), cpus(first)).map_err(refused)?;
        if on(&step).is_some() {
            all.forget_counters();
            let mut own = OfTarget::default();
            let step = StepRecord {
                ranks: step.ranks.iter().map(|rank| RankRecord { cpus: cpus(first), ..rank.clone() }).collect(),
                ..step
            };
            own.lead(Run { steps: Vec::new(), ..first.clone() }, step).map_err(refused)?;
            targets.insert(0, own);
        }
        Ok(Self { first: first.clone(), all, targets })
    }

    /// Adds what another rank left.
    ///
    /// # Errors
    /// It is no part of this run.
    pub fn add(&mut self, Part { step, lead }: Part) -> Result<(), String> {
        self.all.add(&step)?;
        let Some(RankTarget { target, .. }) = on(&step).filter(|_| !self.targets.is_empty()) else { return Ok(()) };
        let of_target = self.targets.entry(target).or_default();
        match lead {
            Some(run) => of_target.lead(run, step),
            None => of_target.add(step),
        }
    }

    /// The run of all.
    ///
    /// # Errors
    /// A rank is missing, or their sessions do not follow one another.
    pub fn finish(self) -> Result<Run, String> {
        let mut step = self.all.finish()?;
        if self.targets.is_empty() {
            return Ok(with_findings(self.first, step));
        }
        let of_target =
            |(number, target): (u32, OfTarget)| target.finish().map_err(|why| format!("target {}: {why}", number + 1));
        let targets: Vec<Run> = self.targets.into_iter().map(of_target).collect::<Result<_, _>>()?;
        let (server, host) = (shared_server(&targets), shared_host(&targets));
        let steps: Vec<&StepRecord> = targets.iter().flat_map(|run| &run.steps).collect();
        // What counts for two targets at once is not added up.
        step.series =
            sum_counters(&steps, |source| server.is_none() && (host.is_none() || !HOST_SOURCES.contains(&source)));
        // What they found stands with the targets.
        step.ranks.iter_mut().for_each(|rank| rank.findings.clear());
        let names: Vec<&str> = targets.iter().map(|run| run.head.target.as_str()).collect();
        let mut head = self.first.head.clone();
        head.target = names.join(", ");
        let findings = server.into_iter().chain(host).collect();
        Ok(Run { head, steps: vec![step], findings, shapes: Vec::new(), notes: Vec::new(), targets, ..self.first })
    }
}

/// What one rank's run says of its sessions, and of the target that it looked after where that is not the first.
///
/// # Errors
/// It is none of a rank's, or did not come to its end.
pub fn part_of(run: &Run) -> Result<Part> {
    let [step] = &*run.steps else {
        return Err(refused(format!("run {} has {} steps", run.head.id, run.steps.len())));
    };
    if !step.finished() || step.error.is_some() {
        return Err(refused(format!("run {} did not come to its end", run.head.id)));
    }
    let leads = step.ranks.first().is_some_and(RankRecord::leads_other_target);
    let in_process = run.host.as_ref().is_some_and(|host| host.in_process);
    let keeps = match (leads, in_process) {
        (true, _) => KeptCounters::All,
        (false, true) => KeptCounters::InProcess,
        (false, false) => KeptCounters::Nothing,
    };
    let mut step = step.to_rank_part(cpus(run), keeps).map_err(|why| refused(format!("run {}: {why}", run.head.id)))?;
    if leads {
        return Ok(Part { step, lead: Some(Run { steps: Vec::new(), ..run.clone() }) });
    }
    // The first rank's stand in its run, which becomes that of all.
    for rank in step.ranks.iter_mut().filter(|rank| rank.rank > 0) {
        rank.findings.clone_from(&run.findings);
        rank.findings.extend(mindful_analyze::checks::of_part(run));
    }
    Ok(Part { step, lead: None })
}

/// CPUs that the process of `run` might use.
fn cpus(run: &Run) -> Option<f64> {
    let fact = |name: &str| run.environment.get(name).and_then(|cpus| cpus.parse::<f64>().ok());
    fact(fact::CPUS_ALLOWED).or_else(|| fact(fact::CPU_COUNT)).filter(|cpus| *cpus > 0.0)
}

pub(crate) fn refused(why: impl std::fmt::Display) -> Error {
    Error::plan(format!("these runs do not become one: {why}"), "give the folders of all ranks of one run, each once")
}

/// The target that the rank of a part worked on, where there are several.
fn on(step: &StepRecord) -> Option<RankTarget> {
    step.ranks.first().and_then(|rank| rank.on_target)
}

/// `run` with the step of all its ranks, and what they found.
fn with_findings(mut run: Run, mut step: StepRecord) -> Run {
    for rank in &mut step.ranks {
        let (number, host) = (rank.rank, rank.host.clone());
        let reported =
            |found: Finding| Finding { evidence: format!("rank {number} on {host}: {}", found.evidence), ..found };
        run.findings.extend(std::mem::take(&mut rank.findings).into_iter().map(reported));
    }
    run.steps = vec![step];
    run
}

/// Two targets in one server.
fn shared_server(targets: &[Run]) -> Option<Finding> {
    let instance = |run: &Run| run.description.as_ref().and_then(|description| description.instance.clone());
    let (one, other, _) = alike(targets, instance)?;
    let text = "Two targets are in one server, which counts what it does for both: the run of all has no counters rather \
                than each of them twice, and those of each target are of both. Give each server once.";
    Some(codes::TARGETS_SHARE_SERVER.finding(text, format!("targets {one} and {other}")))
}

/// Two targets on one host, whose devices and CPUs both were seen to use.
fn shared_host(targets: &[Run]) -> Option<Finding> {
    let (one, other, host) = alike(targets, host)?;
    let text = "Two targets are on one host: what its devices and CPUs did is of both, so the run of all has no such \
                figures, and those of each target are of both.";
    Some(codes::TARGETS_SHARE_HOST.finding(text, format!("targets {one} and {other} on {host}")))
}

/// The numbers, from 1, of two targets of which `what` is known and the same, and what that is.
fn alike(targets: &[Run], what: impl Fn(&Run) -> Option<String>) -> Option<(usize, usize, String)> {
    let mut known: Vec<(usize, String)> = Vec::new();
    for (number, run) in (1..).zip(targets) {
        let Some(own) = what(run) else { continue };
        if let Some((other, _)) = known.iter().find(|(_, other)| *other == own) {
            return Some((*other, number, own));
        }
        known.push((number, own));
    }
    None
}

/// The host that the counters of a target are of, where they tell of one.
fn host(run: &Run) -> Option<String> {
    if let Some(exporter) = run.head.settings.get("node_exporter") {
        return Some(exporter.to_owned());
    }
    let seen = run.host.as_ref().is_some_and(|host| host.local);
    let rank = run.steps.first().and_then(|step| step.ranks.first());
    rank.filter(|_| seen).map(|rank| rank.host.clone())
}
