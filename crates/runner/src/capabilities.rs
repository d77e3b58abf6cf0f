//! Whether an engine can do what a plan asks, before anything is opened.

use mindful_core::engine::Engine;
use mindful_core::plan::Plan;
use mindful_core::settings::Settings;
use mindful_core::workload::{Commit, LoopSite};
use mindful_core::{Error, Result};

/// Refuses what `engine` cannot do; moves the loop to the client where only that can, unless the user chose a side.
pub fn check(plan: &mut Plan, engine: &dyn Engine, settings: &Settings) -> Result<()> {
    let can = engine.capabilities();
    let refuse = |ask: bool, able: bool, what: &str, next: &str| {
        if ask && !able { Err(Error::plan(format!("engine {} cannot {what}", engine.name()), next)) } else { Ok(()) }
    };
    refuse(!plan.update_pct.is_none(), can.updates, "update blocks here", "leave --update-pct away")?;
    refuse(!plan.scan_pct.is_none(), can.scans, "scan tables", "leave --scan-pct away")?;
    let commit_mode = plan.commit != Commit::Each || !plan.commit_wait;
    refuse(commit_mode, can.commit_modes, "choose when to commit", "leave --commit and --commit-wait away")?;
    refuse(plan.rate.is_some(), can.rate, "keep a rate", "leave --rate away")?;
    let server_side = can.server_side_loop && plan.rate.is_none();
    if plan.looping == LoopSite::Server && !server_side {
        let why = if plan.rate.is_some() { "keep a rate in its server-side loop" } else { "loop on the server side" };
        refuse(settings.given("loop").is_some(), false, why, "give --loop client")?;
        plan.looping = LoopSite::Client;
    }
    refuse(plan.looping == LoopSite::Client, can.client_side_loop, "loop on the client side", "give --loop server")
}
