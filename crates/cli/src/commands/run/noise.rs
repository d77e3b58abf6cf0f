//! `mindful run --repeat N`: runs one plan several times and stores the variation between the runs, the noise floor.

use clap::ArgMatches;
use mindful_analyze::compare::NoiseFloor;
use mindful_core::{Error, Result};
use mindful_runner::estimate::Estimate;
use mindful_runner::repetition;
use serde_json::json;

use super::turns::Turns;
use crate::args::flags;
use crate::context;
use crate::exit::Exit;
use crate::noise::{self, Noted};
use crate::{layers, new_files, store};

const FEWEST: u32 = 2;

/// Repeats the plan, stores the noise floor and prints it.
pub(super) fn measure(matches: &ArgMatches) -> Result<Exit> {
    let repetitions = flags::repetitions(matches, FEWEST, FEWEST)?;
    let settings = new_files::asked(layers::settings(matches)?, matches)?;
    let (mut runs, mut turns) = (Vec::new(), Turns::new(repetitions));
    for number in 1..=repetitions {
        let context = context::alone(settings.clone(), matches)?;
        if number == 1 {
            // Fail before the first run, not after the last.
            context.store.probe()?;
            let all = std::iter::repeat_n(&context.plan, repetitions as usize);
            context.recording.tell(&Estimate::of("run", all).to_string());
        }
        context.recording.tell(&turns.next_line(None));
        runs.push(repetition::run(&context)?);
    }
    let values: Vec<f64> = runs.iter().filter_map(|(_, analysis)| repetition::throughput(analysis)).collect();
    let floor = NoiseFloor::from_values(&values)
        .ok_or_else(|| Error::run("the runs have no throughput to compare", "see `mindful list`"))?;
    let store = store::open(matches)?;
    let context = context::alone(settings, matches)?;
    let ids: Vec<String> = runs.iter().map(|(run, _)| run.head.id.clone()).collect();
    let measured_at = runs.last().map(|(run, _)| run.head.started_at.clone()).unwrap_or_default();
    noise::keep(&store, Noted { target: context.redacted_target(), measured_at, runs: ids.clone(), floor })?;
    let text = if context::wants_json(matches) {
        context::json(json!({ "format": 1, "floor": floor, "runs": ids, "values": values }), &context.settings)
    } else {
        context::found_plan(&context.settings) + &mindful_report::comparison::noise_text(&floor, &values)
    };
    context::print(&text)
}
