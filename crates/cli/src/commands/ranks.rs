//! `mindful run` as one of several ranks, and `mindful merge`.

use std::path::Path;
use std::sync::Arc;

use clap::ArgMatches;
use mindful_core::ranks::rank::Rank;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::{Result, plan::units};
use mindful_record::{LOG, Store, read_run};
use mindful_runner::Context;
use mindful_runner::merge;
use mindful_runner::party::{Invitation, Party};
use mindful_runner::shared_run::{self, Shared};

use crate::commands::show;
use crate::exit::Exit;
use crate::{context, registry, store};

/// Meets the other ranks, where the plan says or in the target, and takes this one's share; the first one reports.
pub fn run(context: Context, rank: &Rank, form: show::Form) -> Result<Exit> {
    let first = context.targets.first().unwrap_or(&context.plan.target);
    let meet = context.settings.get("meet").unwrap_or(first).to_owned();
    run_at(&meet, context, rank, form)
}

/// The same, where the ranks meet at `meet`.
pub fn run_at(meet: &str, context: Context, rank: &Rank, form: show::Form) -> Result<Exit> {
    shared_run::refuse_unshared(&context)?;
    let party = Arc::new(Party::join(invitation(&context, rank.clone(), meet)?)?);
    let context = Context { party: Some(Arc::clone(&party)), ..context };
    let shared =
        shared_run::run(&context, &party, &mut |run, analysis| show::print(run, analysis, form, &context.store))?;
    if rank.number > 0 {
        context::tell(&in_a_line(rank, &shared));
    }
    Ok(if shared.valid { Exit::Ok } else { Exit::Invalid })
}

fn invitation(context: &Context, rank: Rank, url: &str) -> Result<Invitation> {
    let meet = || registry::meet(url, context.engine, &context.settings, &context.events());
    let meeting = context.stop.run_expendable(meet)?;
    let plan = shared_run::digest(context);
    Ok(Invitation {
        job: rank.job.clone().unwrap_or_else(|| format!("plan-{plan}")),
        rank,
        meeting: Arc::from(meeting),
        host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        version: context.build.clone().unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned()),
        plan,
        marks: shared_run::marks(context),
        targets: context.redacted_targets(),
        timeout: context.settings.require("meet_timeout", units::parse_duration)?,
        clock: Arc::clone(&context.clock),
        stop: context.stop.clone(),
    })
}

/// What a rank that does not report says of itself.
fn in_a_line(rank: &Rank, shared: &Shared) -> String {
    let summary = &shared.own.analysis.summary;
    let sessions = summary.steps.first().and_then(|step| step.sessions).unwrap_or(0);
    let ops = summary.steps.first().map_or(0, |step| {
        let kinds = [&step.ops.select, &step.ops.update, &step.ops.scan];
        kinds.into_iter().flatten().map(|op| op.count).sum()
    });
    format!(
        "rank {} of {}: {}, {} in its window; its part is {}, rank 0 has the report",
        rank.number,
        rank.count,
        units::format_counted(u64::from(sessions), "session"),
        units::format_counted(ops, "operation"),
        shared.own.run.head.id
    )
}

/// Makes one run of those that the ranks of a run keep, as the first rank does when it has them all.
pub fn merge(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let names = matches.get_many::<String>("runs").into_iter().flatten();
    let runs = names.map(|name| read(&store, name)).collect::<Result<Vec<_>>>()?;
    let own = runs.iter().all(|(_, own)| *own);
    let runs = runs.into_iter().map(|(run, _)| run).collect();
    let (run, analysis) = merge::stored(&store, merge::of_folders(runs)?, own)?;
    show::print(&run, &analysis, show::Form::of(matches), &store)?;
    Ok(if analysis.summary.validity == Validity::Invalid { Exit::Invalid } else { Exit::Ok })
}

/// A run by its folder, or by its name in the store, and whether it was written here.
fn read(store: &Store, name: &str) -> Result<(Run, bool)> {
    let log = Path::new(name).join(LOG);
    if log.exists() {
        return Ok((read_run(&log)?, false));
    }
    let id = store.resolve(name)?;
    store.read_judged(&id)
}
