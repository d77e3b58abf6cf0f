//! `mindful run` as one of several ranks.

use std::process::Command;
use std::sync::Arc;

use clap::ArgMatches;
use mindful_core::ranks::Rank;
use mindful_core::{Error, Result, plan::units};
use mindful_ranks::local::{ParentWatch, RankProcesses, RendezvousFolder};
use mindful_ranks::{JoinRequest, Ranked, key_marks, plan_digest};
use mindful_runner::{Coordination, Ended};

use crate::rank_context::RankContext;
use crate::{context, registry, signals};

type Measure<'a> = &'a dyn Fn(&dyn Coordination) -> Result<Ended>;

/// Joins the other ranks, at the plan's rendezvous or in the target, and measures the share of this one.
pub(super) fn join(shared: &RankContext, rank: &Rank, matches: &ArgMatches, measure: Measure<'_>) -> Result<Ended> {
    let meet = shared.context.settings.get("meet");
    let parent = matches.get_one::<String>("started_by").and_then(|pid| pid.parse().ok());
    let _parent =
        parent.map(|pid| ParentWatch::start(pid, meet, &shared.context.stop, signals::interrupt)).transpose()?;
    let first = shared.targets.first().unwrap_or(&shared.context.plan.target);
    join_at(meet.unwrap_or(first), shared, rank, measure)
}

pub(super) fn start_local(
    shared: &RankContext,
    first: &Rank,
    matches: &ArgMatches,
    measure: Measure<'_>,
) -> Result<Ended> {
    let settings = &shared.context.settings;
    if let Some(name) = ["meet", "job"].into_iter().find(|name| settings.get(name).is_some()) {
        return Err(Error::plan(
            format!(
                "{}: mindful starts the ranks of its {} targets itself",
                settings.describe_place(name),
                first.count
            ),
            "drop it, or let a launcher start the ranks: --rank K --ranks N",
        ));
    }
    let folder = RendezvousFolder::create()?;
    let program = std::env::current_exe()
        .map_err(|error| Error::run(format!("cannot start a rank: {error}"), "run mindful by its path"))?;
    let command = |number: u32| {
        let mut command = Command::new(&program);
        command.args(std::env::args_os().skip(1));
        command.args(["--rank", &number.to_string(), "--ranks", &first.count.to_string(), "--meet", &folder.url()]);
        command.args(["--job", first.job.as_deref().unwrap_or_default()]);
        command.args(["--started-by", &std::process::id().to_string()]);
        if !matches.get_flag("quiet") {
            command.arg("--quiet");
        }
        command
    };
    let others = RankProcesses::start((1..first.count).map(command), &shared.context.stop)?;
    let ended = join_at(&folder.url(), shared, first, measure);
    if ended.is_err() {
        others.terminate();
    }
    ended
}

fn join_at(meet: &str, shared: &RankContext, rank: &Rank, measure: Measure<'_>) -> Result<Ended> {
    if shared.context.plan.steady {
        return Err(Error::plan(
            "--steady with several ranks: no rank sees whether all of them are steady",
            "drop --steady, and pass --warmup and --duration",
        ));
    }
    let ranked = Ranked::join(join_request(shared, rank.clone(), meet)?)?;
    let ended = measure(&ranked)?;
    if rank.number > 0 {
        context::tell(&in_a_line(rank, &ended));
    }
    Ok(ended)
}

fn join_request(shared: &RankContext, rank: Rank, url: &str) -> Result<JoinRequest> {
    let context = &shared.context;
    let meet = || registry::meet(url, context.engine, &context.settings, &context.events());
    let rendezvous = context.stop.run_expendable(meet)?;
    let targets = shared.redacted_targets();
    let plan = plan_digest(context, &targets);
    Ok(JoinRequest {
        job: rank.job.clone().unwrap_or_else(|| format!("plan-{plan}")),
        rank,
        rendezvous: Arc::from(rendezvous),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        version: context.build.clone().unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        plan,
        marks: key_marks(context, &targets),
        targets,
        timeout: context.settings.require("meet_timeout", units::parse_duration)?,
        clock: Arc::clone(&context.clock),
        stop: context.stop.clone(),
    })
}

fn in_a_line(rank: &Rank, ended: &Ended) -> String {
    let summary = &ended.analysis.summary;
    let sessions = summary.steps.first().and_then(|step| step.sessions).unwrap_or(0);
    let ops = summary.steps.first().map_or(0, |step| {
        let kinds = [&step.ops.select, &step.ops.update, &step.ops.scan];
        kinds.into_iter().flatten().map(|op| op.count).sum()
    });
    format!(
        "rank {} of {}: {}, {} in the window; stored as {}, rank 0 has the report",
        rank.number,
        rank.count,
        units::format_counted(u64::from(sessions), "session"),
        units::format_counted(ops, "operation"),
        ended.run.head.id
    )
}
