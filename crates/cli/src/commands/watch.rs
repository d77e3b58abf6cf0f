//! `mindful watch`: what a database and its host do by themselves, second by second, without any load.

mod watched;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use mindful_core::clock;
use mindful_core::event::{Event, Events};
use mindful_core::{Error, Result, units};
use mindful_observe::{Boundaries, Observer};
use mindful_runner::{Context, measure};

use crate::context;
use crate::exit::Exit;
use watched::{Filter, Sources};

/// How long to wait for readings before looking whether somebody wants an end.
const LOOK: Duration = Duration::from_millis(100);
const SECOND_US: i64 = 1_000_000;

/// Reads all counters once a second and prints what they did, until told to stop or `--duration` has passed.
pub fn watch(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    let until = context.settings.given("duration").map(units::parse_duration).transpose()?;
    let filter = filter(matches)?;
    let target = context.open()?;
    let (mut samplers, unseen) = measure::host_samplers(&context, &*target)?;
    let events = context.events();
    for finding in unseen {
        context.recording.tell(&format!("{}: {}", finding.code, finding.evidence));
    }
    samplers.extend(target.samplers()?);
    let (sender, readings) = channel();
    let start_us = clock::now_us() + SECOND_US / 10;
    let boundaries = Boundaries::Every { start_us, period_us: SECOND_US };
    let observer =
        Observer::start(samplers, boundaries, 0, Arc::new(Readings { sender, events }), Arc::clone(&context.clock))?;
    context.events().quiet();
    if !context::wants_json(matches) {
        context::print(&context::found_plan(&context.settings))?;
    }
    let until = until.map(|duration| Instant::now() + duration);
    let outcome = print(&context, &readings, until, &filter, context::wants_json(matches));
    observer.stop();
    outcome.map(|()| Exit::Ok)
}

fn filter(matches: &ArgMatches) -> Result<Filter> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let top = text("top").map(units::parse_count).transpose().map_err(|error| error.at("--top"))?;
    let only = text("only").map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    Ok(Filter { top: top.map(|top| top as usize), only: only.unwrap_or_default() })
}

/// Prints each second as soon as all sources have reported it.
fn print(
    context: &Context,
    readings: &Receiver<Event>,
    until: Option<Instant>,
    filter: &Filter,
    json: bool,
) -> Result<()> {
    let mut sources = Sources::default();
    while !context.stop.requested() {
        match readings.recv_timeout(LOOK) {
            Ok(event) => {
                if let Some(second) = sources.take(event) {
                    let plan = context.settings.found_in();
                    let text = if json { second.json(filter, plan) } else { second.text(filter) };
                    if !context::offer(&text)? {
                        return Ok(());
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::run(
                    "the sampling thread has ended",
                    "this is a defect of mindful: please report it",
                ));
            }
        }
        // A second is reported half a second after its end.
        if until.is_some_and(|until| Instant::now() >= until + Duration::from_secs(1)) {
            break;
        }
    }
    Ok(())
}

/// Hands readings over; the rest goes where events go.
struct Readings {
    sender: std::sync::mpsc::Sender<Event>,
    events: Arc<dyn Events>,
}

impl Events for Readings {
    fn emit(&self, event: Event) {
        match event {
            Event::Source { .. } | Event::Sample { .. } => {
                // After the last second nobody takes them any more.
                let _ = self.sender.send(event);
            }
            event => self.events.emit(event),
        }
    }
}
