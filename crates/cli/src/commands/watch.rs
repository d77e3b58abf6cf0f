//! `mindful watch`: shows activity of a database and its host each second, without load from mindful.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use clap::ArgMatches;
use mindful_core::contract::clock;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::Scope;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result, plan::units};
use mindful_observe::{Boundaries, Observer, Sources};
use mindful_report::live::WatchedBoard;
use mindful_report::live::screen::{self, Screen};
use mindful_report::watch::{CounterFilter, WatchColumns, WatchedSecond, WatchedSources};
use mindful_runner::{Context, measure};

use crate::args::flags::{option, switch};
use crate::exit::Exit;
use crate::verb::{Action, Verb};
use crate::{context, signals};

pub(super) const VERB: Verb = Verb {
    name: "watch",
    about: "Show the activity of a database and its host each second, without adding load",
    details: "Watch prints one line per second until Ctrl-C: transactions, reads, log, device, CPU and the top wait. It needs the --target of a running server.",
    example: "mindful watch --target postgres://host/db --interval 5s",
    page: "docs/own-server.md",
    plan: Some("target duration device_trace node_exporter"),
    arguments: || {
        vec![
            option("interval", "interval", "TIME").help("Time between two lines [100ms to 1h] [default: 1s]"),
            switch("all", "all").help("Print every counter that changed, one per line"),
            option("only", "only", "NAMES").help("Print counters with one of these texts in the name, comma-separated"),
            option("top", "top", "N").help("Print the N counters of each unit that grew most"),
            switch("instance", "instance").help("Count all databases of the server, not only the target's"),
            switch(SCREEN, "live").help("Show the lines on the whole terminal"),
        ]
    },
    action: Action::Run(watch),
};

/// The argument of `--live`; the screen of this verb differs from that of a run.
const SCREEN: &str = "screen";

/// Interval of checking for Ctrl-C during the wait for readings.
const LOOK: Duration = Duration::from_millis(100);

/// Shortest interval: servers hardly publish counters more often.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_hours(1);

enum Shape {
    Json(CounterFilter),
    All(CounterFilter),
    Line(WatchColumns),
    /// The whole terminal shows it.
    Screen(Screen),
}

fn watch(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    let until = context.settings.given_text("duration").map(units::parse_duration).transpose()?;
    let interval = interval(matches)?;
    // An invalid filter is refused before anything is opened.
    filter(matches)?;
    refuse_private(&context)?;
    let target = context.open()?;
    let scope = if matches.get_flag("instance") { Scope::Server } else { Scope::Database };
    let of_target = target.samplers_for_all_clients(scope)?;
    if scope == Scope::Server && !of_target.iter().any(|sampler| sampler.source().scope == Scope::Server) {
        let what = format!("engine {} has no server with other databases", context.engine.name());
        return Err(Error::plan(what, "omit --instance"));
    }
    let (mut samplers, unseen) = measure::host_samplers(&context, &*target, &of_target)?;
    let events = context.events();
    let unmeasured: Vec<String> = context.recording.findings().iter().chain(&unseen).map(unmeasured).collect();
    samplers.extend(of_target);
    let scopes = samplers.iter().map(|sampler| (sampler.name().to_owned(), sampler.source().scope)).collect();
    let mut shape = shape(matches, &context.engine.words().log, scopes)?;
    for text in unmeasured {
        match &shape {
            Shape::Screen(screen) => screen.emit(Event::Note { text }),
            _ => context.recording.tell(&text),
        }
    }
    let (sender, readings) = channel();
    let boundaries = Boundaries::Every { start_us: clock::now_us() + 100_000, period_us: interval.as_micros() as i64 };
    let sources = Sources { samplers, ..Sources::default() };
    let observer =
        Observer::start(sources, boundaries, 0, Arc::new(Readings { sender, events }), Arc::clone(&context.clock))?;
    context.events().quiet();
    if !context::wants_json(matches) && !matches!(shape, Shape::Screen(_)) {
        context::print(&context::found_plan(&context.settings))?;
    }
    // A second is reported half of one after its end.
    let until = until.map(|duration| Instant::now() + duration + interval.min(Duration::from_secs(1)));
    let outcome = print(&context, &readings, until, &mut shape);
    observer.stop();
    outcome.map(|()| Exit::Ok)
}

/// Refuses a private server: watch would start it, and show it idle.
fn refuse_private(context: &Context) -> Result<()> {
    let url = context.settings.get("target").unwrap_or_default();
    let Some(_) = context.engine.cache_option(url, false) else { return Ok(()) };
    Err(Error::plan(
        "watch shows a server that runs already, and a private server runs only during a run",
        "pass --target URL of a server, or watch a run with `mindful run --live`",
    ))
}

/// A part without columns or counters, and why.
fn unmeasured(finding: &Finding) -> String {
    let why = if finding.code == codes::COUNTERS_DENIED.name { &finding.text } else { &finding.evidence };
    format!("not measured: {why}")
}

fn interval(matches: &ArgMatches) -> Result<Duration> {
    let Some(text) = matches.get_one::<String>("interval") else { return Ok(Duration::from_secs(1)) };
    let interval = units::parse_duration(text).map_err(|error| error.at("--interval"))?;
    if (SHORTEST..=LONGEST).contains(&interval) {
        return Ok(interval);
    }
    Err(Error::plan(format!("--interval {text} is out of range"), "give 100ms to 1h"))
}

/// `--only` and `--top` print counters one by one, as `--all` does.
fn shape(matches: &ArgMatches, log_name: &str, scopes: BTreeMap<String, Scope>) -> Result<Shape> {
    let filter = filter(matches)?;
    let all = matches.get_flag("all") || filter.is_given();
    if matches.get_flag(SCREEN) && (all || context::wants_json(matches)) {
        let others = "--all, --only, --top and --format json";
        return Err(Error::plan("--live shows the columns alone", format!("omit --live, or omit {others}")));
    }
    if context::has_screen(matches, SCREEN) {
        let watched = WatchedBoard::new(log_name, scopes);
        return Ok(Shape::Screen(Screen::open(Some(watched), context::wants_colour(), signals::interrupt)?));
    }
    Ok(match (context::wants_json(matches), all) {
        (true, _) => Shape::Json(filter),
        (false, true) => Shape::All(filter),
        (false, false) => Shape::Line(WatchColumns::new(log_name, scopes, context::columns().unwrap_or(usize::MAX))),
    })
}

impl Shape {
    fn text(&mut self, second: &WatchedSecond, plan_file: Option<&str>) -> String {
        match self {
            Self::Json(filter) => second.json_line(filter, plan_file),
            Self::All(filter) => second.counters_text(filter),
            Self::Line(columns) => columns.second_line(second),
            Self::Screen(_) => String::new(),
        }
    }
}

fn filter(matches: &ArgMatches) -> Result<CounterFilter> {
    let text = |name| matches.get_one::<String>(name).map(String::as_str);
    let top = text("top").map(units::parse_count).transpose().map_err(|error| error.at("--top"))?;
    let only = text("only").map(|names| names.split(',').map(|name| name.trim().to_owned()).collect());
    Ok(CounterFilter { top: top.map(|top| top as usize), only: only.unwrap_or_default() })
}

/// Prints each second as soon as all sources have reported it.
fn print(context: &Context, readings: &Receiver<Event>, until: Option<Instant>, shape: &mut Shape) -> Result<()> {
    let mut sources = WatchedSources::default();
    while !context.stop.is_requested() {
        match readings.recv_timeout(LOOK) {
            Ok(event) => {
                if let Shape::Screen(screen) = shape {
                    screen.emit(event.clone());
                }
                let second = sources.add_event(event);
                if let Some(second) = second
                    && !context::offer(&shape.text(&second, context.settings.found_in()))?
                {
                    return Ok(());
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Error::run("the sampling thread has ended", "this is a bug in mindful: please report it"));
            }
        }
        // Nothing is stored, so without its view there is nothing left to do.
        if matches!(shape, Shape::Screen(_)) && screen::is_left() {
            break;
        }
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
    }
    Ok(())
}

/// Sends readings to the printing thread, and all other events on.
struct Readings {
    sender: std::sync::mpsc::Sender<Event>,
    events: Arc<dyn Events>,
}

impl Events for Readings {
    fn emit(&self, event: Event) {
        match event {
            Event::Source { .. } | Event::Sample { .. } | Event::Latencies { .. } => {
                // The receiver is gone after the last second.
                let _ = self.sender.send(event);
            }
            event => self.events.emit(event),
        }
    }
}
