//! `mindful run --repeat N`: runs one plan several times and stores how much the runs differ, the noise floor.

use clap::ArgMatches;
use mindful_analyze::compare::NoiseFloor;
use mindful_core::{Error, Result};
use mindful_runner::estimate::Estimate;
use mindful_runner::repetition;
use serde_json::json;

use crate::args::flags;
use crate::context;
use crate::exit::Exit;
use crate::noise::{self, Noted};
use crate::{layers, new_files, store};

/// The method's claim for runs of one plan: 1 to 2 %, 3 % at worst.
const CLAIM: f64 = 0.02;
const CLAIM_AT_WORST: f64 = 0.03;

/// Fewest runs that differ from each other.
const FEWEST: u32 = 2;

/// Repeats the plan, stores the noise floor and prints it.
pub fn measure(matches: &ArgMatches) -> Result<Exit> {
    let repetitions = flags::repetitions(matches, FEWEST, FEWEST)?;
    let settings = new_files::asked(layers::settings(matches)?, matches)?;
    let mut runs = Vec::new();
    for number in 1..=repetitions {
        let context = context::alone(settings.clone(), matches)?;
        if number == 1 {
            // Fail before the first run, not after the last.
            context.store.probe()?;
            let all = std::iter::repeat_n(&context.plan, repetitions as usize);
            context.recording.tell(&Estimate::of("runs", all).to_string());
        }
        context.recording.tell(&format!("run {number} of {repetitions}"));
        runs.push(repetition::run(&context)?);
    }
    let values: Vec<f64> = runs.iter().filter_map(|(_, analysis)| repetition::throughput(analysis)).collect();
    let floor = NoiseFloor::of(&values)
        .ok_or_else(|| Error::run("the runs have no throughput to compare", "see `mindful list`"))?;
    let store = store::open(matches)?;
    let context = context::alone(settings, matches)?;
    let ids: Vec<String> = runs.iter().map(|(run, _)| run.head.id.clone()).collect();
    let measured_at = runs.last().map(|(run, _)| run.head.started_at.clone()).unwrap_or_default();
    noise::keep(&store, Noted { target: context.redacted_target(), measured_at, runs: ids.clone(), floor })?;
    let text = if context::wants_json(matches) {
        context::json(json!({ "format": 1, "floor": floor, "runs": ids, "values": values }), &context.settings)
    } else {
        context::found_plan(&context.settings) + &as_text(&floor, &values)
    };
    context::print(&text)?;
    Ok(Exit::Ok)
}

fn as_text(floor: &NoiseFloor, values: &[f64]) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let claim = if floor.variation <= CLAIM && floor.worst <= CLAIM_AT_WORST {
        "within the method's claim of 1 to 2 %, 3 % at worst"
    } else {
        "beyond the method's claim of 1 to 2 %, 3 % at worst: a comparison here needs more runs"
    };
    let figures: Vec<_> =
        values.iter().map(|value| mindful_report::figure::format_whole(value.round() as u64)).collect();
    format!(
        "run-to-run noise: {} (standard deviation; 95 % interval {} to {}); the worst run is {} off the median\n\
         this platform is {claim}\nblocks/s of each run: {}\n",
        percent(floor.variation),
        percent(floor.interval.low),
        percent(floor.interval.high),
        percent(floor.worst),
        figures.join("  ")
    )
}
