//! Progress on stderr: one moving line on a terminal, a plain line every few seconds elsewhere.

mod board;
mod layout;
mod progress;
pub mod screen;
mod seconds;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use mindful_core::contract::event::{Event, Events};
use mindful_core::plan::units;
use mindful_core::record::run::StepHead;
use mindful_core::result::Finding;

pub use self::board::WatchedBoard;
use crate::escape;
use progress::Progress;
use seconds::Seconds;

const PLAIN_EVERY: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(125);

#[derive(Debug)]
pub struct Live {
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    progress: Option<Progress>,
    seconds: Option<Seconds>,
    block_bytes: Option<u64>,
    said: Option<Instant>,
    last: String,
    moves: bool,
    findings: Vec<Finding>,
}

impl Live {
    pub fn new(terminal: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { bar, state: Mutex::default() }
    }

    /// Continues after a full screen: with the step in progress, its boundaries and the findings.
    fn go_on(&self, head: Option<StepHead>, block_bytes: Option<u64>, boundaries_us: Vec<i64>, findings: Vec<Finding>) {
        let mut state = self.state();
        state.findings = findings;
        state.block_bytes = block_bytes;
        state.seconds = head.map(|head| Seconds::new(head, block_bytes));
        if let Some(seconds) = &mut state.seconds {
            seconds.apply(Event::Started { boundaries_us, clock_offset_us: 0 });
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.println(line),
            // When stderr is closed, the message is dropped.
            _ => drop(writeln!(std::io::stderr().lock(), "{line}")),
        }
    }

    fn show(&self, state: &mut State, line: String, at_once: bool) {
        if let Some(bar) = &self.bar {
            bar.set_message(line);
            // The line starts with the first content: until then a password prompt may be active.
            if !std::mem::replace(&mut state.moves, true) {
                keep_ticking(bar.downgrade());
            }
        } else if at_once || state.said.is_none_or(|said| said.elapsed() >= PLAIN_EVERY) {
            if line != state.last {
                self.say(&line);
            }
            state.said = Some(Instant::now());
            state.last = line;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves the line until it is dropped. The progress bar's own thread panics if it cannot be started; then the line
/// moves only with events.
fn keep_ticking(bar: WeakProgressBar) {
    let tick = move || {
        while let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
            bar.tick();
            drop(bar);
            std::thread::sleep(TICK);
        }
    };
    let _ = std::thread::Builder::new().name("progress".to_owned()).spawn(tick);
}

impl Events for Live {
    fn emit(&self, event: Event) {
        let mut state = self.state();
        match event {
            Event::Note { text } => self.say(&escape(&text)),
            Event::Progress { what, done, of, unit } => {
                let known = state.progress.take().filter(|progress| progress.what == what);
                let progress = known.unwrap_or_else(|| Progress::start(what, done));
                let line = progress.message(done, of, &unit);
                let ends = of > 0 && done >= of;
                self.show(&mut state, line, ends);
                state.progress = (!ends).then_some(progress);
            }
            Event::Finding(finding) => state.findings.push(finding),
            Event::Loaded { dataset, .. } => state.block_bytes = Some(dataset.block_bytes),
            Event::Step(head) => state.seconds = Some(Seconds::new(head, state.block_bytes)),
            Event::Ready { ready, of } => {
                let line = format!("connecting: {ready} of {} ready", units::format_counted(of, "session"));
                self.show(&mut state, line, ready == of);
            }
            Event::StepEnd { .. } => {
                if let Some(line) = state.seconds.take().and_then(Seconds::last_line) {
                    let line = so_far(&line, &state.findings);
                    self.show(&mut state, line, true);
                }
            }
            event => {
                let line = state.seconds.as_mut().and_then(|seconds| seconds.apply(event));
                if let Some(line) = line {
                    let line = so_far(&line, &state.findings);
                    self.show(&mut state, line, false);
                }
            }
        }
    }

    fn quiet(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// `line` with the doubts about the result so far after its beginning: a narrow terminal cuts the end.
fn so_far(line: &str, findings: &[Finding]) -> String {
    line.replacen(": ", &format!(", {}: ", board::verdict(findings)), 1)
}

impl Drop for Live {
    fn drop(&mut self) {
        self.quiet();
    }
}

#[cfg(test)]
mod events {
    use mindful_core::contract::event::Event;
    use mindful_core::contract::metric::{Metric, Phase};

    pub(super) fn source(source: &str, counters: &[&str], phase: Phase) -> Event {
        let metrics = counters.iter().map(|name| Metric::counter(*name, "1", "")).collect();
        Event::Source { source: source.to_owned(), metrics, phase }
    }

    /// A reading that came so late after the boundary, which is one a second.
    pub(super) fn sample(source: &str, boundary: u32, late_us: i64, values: &[f64]) -> Event {
        let (at_us, values) = (i64::from(boundary) * 1_000_000 + late_us, values.iter().copied().map(Some).collect());
        Event::Sample { source: source.to_owned(), boundary, at_us, cost_us: 1, values }
    }
}
