//! `mindful plan`: every setting with its value and origin, and the size and time of the run.

use std::fmt::Write as _;
use std::ops::Range;

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::dataset::Extent;
use mindful_core::plan::{self, DEFAULT_SCALE, DEFAULT_SCHEMAS, Plan, units};
use mindful_core::ranks::Rank;
use mindful_report::escape;
use mindful_runner::Context;
use serde_json::json;

use crate::exit::Exit;
use crate::rank_context::RankContext;
use crate::verb::{Action, Verb};
use crate::{context, layers};

pub(super) const VERB: Verb = Verb {
    name: "plan",
    about: "Show every setting, its value and its origin, without running",
    details: "Plan opens no target and changes nothing. It takes all keys of `mindful run`.",
    example: "mindful plan --plan examples/pio.toml",
    page: "docs/plans.md",
    plan: Some("target scale schemas sessions duration warmup"),
    arguments: || Vec::new(),
    action: Action::Run(plan),
};

fn plan(matches: &ArgMatches) -> Result<Exit> {
    let shared = RankContext::of_rank(layers::settings(matches)?, matches)?;
    let text = if context::wants_json(matches) { as_json(&shared) } else { as_text(&shared) };
    context::print(&text)
}

/// Plan keys, then engine options, in the order of their tables.
fn keys(context: &Context) -> Vec<&'static str> {
    plan::KEYS.iter().chain(context.engine.options()).map(|key| key.name).collect()
}

fn as_text(shared: &RankContext) -> String {
    let context = &shared.context;
    let settings = context.public_settings();
    let mut text = context::found_plan(&settings);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{:<20} {:<28} from", "key", "value");
    for name in keys(context) {
        let found = settings.iter().find(|(known, _)| *known == name);
        let (value, origin) =
            found.map_or(("-", "not set".to_owned()), |(_, s)| (s.value.as_str(), s.origin.to_string()));
        let _ = writeln!(text, "{name:<20} {:<28} {}", escape(value), escape(&origin));
    }
    let _ = writeln!(text, "\n{}", cost(&context.plan));
    if let Some(rank) = &shared.rank {
        let _ = writeln!(text, "{}", share(rank, context.plan.sessions));
    }
    text + &of_targets(shared)
}

fn of_targets(shared: &RankContext) -> String {
    let Some(rank) = ranks_of(shared) else { return String::new() };
    let of_target = |(target, url): (u32, String)| {
        let (ranks, sessions) =
            (rank.target_ranks(target), rank.assignment.target_sessions(target, shared.context.plan.sessions));
        let ranks = if ranks.len() == 1 {
            format!("rank {}", ranks.start)
        } else {
            format!("ranks {} to {}", ranks.start, ranks.end - 1)
        };
        format!("target {}: {}, {ranks}, {}\n", target + 1, escape(&url), numbered("session", &sessions))
    };
    (0..).zip(shared.redacted_targets()).map(of_target).collect()
}

/// This rank, or with several targets the first of the ranks that `mindful run` would start.
fn ranks_of(shared: &RankContext) -> Option<Rank> {
    let own = shared.rank.clone();
    own.or_else(|| shared.first_local_rank().ok().flatten()).filter(|_| !shared.targets.is_empty())
}

fn share(rank: &Rank, sessions: u32) -> String {
    let share = rank.own_sessions(sessions);
    format!(
        "rank: {} of {}, counted from 0 ({}), {} of {}",
        rank.number,
        rank.count,
        escape(&rank.source),
        numbered("session", &share),
        units::format_whole(sessions.into())
    )
}

/// `session 3`, `sessions 1 to 4`: things by their numbers from 1.
fn numbered(thing: &str, range: &Range<u32>) -> String {
    let [first, last] = [range.start + 1, range.end].map(|number| units::format_whole(number.into()));
    if range.len() == 1 { format!("{thing} {first}") } else { format!("{thing}s {first} to {last}") }
}

/// The size of the dataset and the time of the run, as far as they are known without the target.
fn cost(plan: &Plan) -> String {
    let schemas = plan.schemas.unwrap_or(DEFAULT_SCHEMAS);
    let size = match plan.scale.unwrap_or(DEFAULT_SCALE) {
        Extent::Bytes(bytes) => units::format_bytes(bytes.saturating_mul(schemas.into())),
        Extent::Blocks(blocks) => units::format_counted(blocks.saturating_mul(schemas.into()), "block"),
    };
    let time = match plan.ops {
        Some(ops) => {
            format!(
                "{} per session, at most {}",
                units::format_counted(ops, "operation"),
                units::format_duration(plan.guard)
            )
        }
        None => format!(
            "{} of warm-up and {} measured",
            units::format_duration(plan.warmup),
            units::format_duration(plan.duration)
        ),
    };
    format!(
        "dataset: {}, {size} in total, unless one is loaded\nrun: {}, {time}",
        units::format_counted(schemas, "schema"),
        units::format_counted(plan.sessions, "session")
    )
}

fn as_json(shared: &RankContext) -> String {
    let context = &shared.context;
    let settings = context.public_settings();
    let mut value = json!({ "engine": context.engine.name(), "settings": settings, "plan": context.public_plan() });
    if let Some(rank) = &shared.rank {
        let share = rank.own_sessions(context.plan.sessions);
        value["rank"] = json!({
            "rank": rank.number, "ranks": rank.count, "from": rank.source, "job": rank.job,
            "first_session": share.start, "sessions": share.len(),
        });
    }
    if let Some(rank) = ranks_of(shared) {
        let of_target = |(target, url): (u32, String)| {
            let (ranks, sessions) =
                (rank.target_ranks(target), rank.assignment.target_sessions(target, context.plan.sessions));
            json!({
                "target": url, "first_rank": ranks.start, "ranks": ranks.len(),
                "first_session": sessions.start, "sessions": sessions.len(),
            })
        };
        value["targets"] = (0..).zip(shared.redacted_targets()).map(of_target).collect();
    }
    context::json(value, &settings)
}
