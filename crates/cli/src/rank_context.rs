//! The context of a run that ranks can share: the rank of this process, and its target among several.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::{Rank, TargetAssignment};
use mindful_runner::Context;

use crate::{context, targets};

pub(crate) struct RankContext {
    /// Its plan names the target of this process.
    pub context: Context,
    /// The rank of this process; `None` if it is alone.
    pub rank: Option<Rank>,
    /// All targets as given, secrets included; empty for a single target.
    pub targets: Vec<String>,
}

impl RankContext {
    /// The context of this process by its flags and the variables of launchers.
    ///
    /// # Errors
    /// Flags and variables contradict each other, there are more ranks than sessions, or more targets than ranks.
    pub(crate) fn of_rank(settings: Settings, matches: &ArgMatches) -> Result<Self> {
        let rank = Rank::detect(&settings, &context::variable)?;
        let own = rank.as_ref().map_or(0, Rank::target);
        let shared = Self { rank, ..Self::of_target(settings, own, matches)? };
        if let Some(rank) = shared.rank.clone().map_or_else(|| shared.first_local_rank(), |rank| Ok(Some(rank)))? {
            rank.refuse_idle(shared.context.plan.sessions)?;
        }
        Ok(shared)
    }

    /// The context of a process on target number `own`, from 0.
    pub(crate) fn of_target(settings: Settings, own: u32, matches: &ArgMatches) -> Result<Self> {
        let targets = targets::all(&settings)?;
        let url = targets.get(own as usize).map_or("", String::as_str);
        let context = context::with(targets::with_one(settings, url), matches)?;
        for url in targets.iter().filter(|url| **url != context.plan.target) {
            context.engine.parse_options(url, &context.settings)?;
        }
        Ok(Self { context, rank: None, targets: if targets.len() > 1 { targets } else { Vec::new() } })
    }

    /// The first of the ranks that `mindful run` starts on this host, one for each target; `None` for a single target.
    pub(crate) fn first_local_rank(&self) -> Result<Option<Rank>> {
        let of = self.targets.len().max(1);
        let assignment = TargetAssignment::for_targets(of, &self.context.settings)?;
        let job = Some(format!("targets-{}", std::process::id()));
        Ok((of > 1).then(|| Rank {
            number: 0,
            count: of as u32,
            source: "one for each target".to_owned(),
            job,
            assignment,
        }))
    }

    /// All targets without secrets; empty if there is one.
    pub(crate) fn redacted_targets(&self) -> Vec<String> {
        self.targets.iter().map(|url| self.context.engine.redact(url)).collect()
    }
}
