//! Progress on stderr: one moving line on a terminal, a plain line every few seconds elsewhere.

mod board;
mod layout;
mod line;
mod progress;
pub mod screen;

use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, WeakProgressBar};
use mindful_core::contract::event::{Event, Events};

use self::board::Board;
pub use self::board::WatchedBoard;
use crate::escape;

const PLAIN_EVERY: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(125);

#[derive(Debug)]
pub struct Live(Mutex<(Board, Lines)>);

/// What stderr shows.
#[derive(Debug)]
struct Lines {
    bar: Option<ProgressBar>,
    said: Option<Instant>,
    last: String,
    moves: bool,
}

impl Live {
    pub fn new(terminal: bool) -> Self {
        Self(Mutex::new((Board::default(), Lines::new(terminal))))
    }

    fn state(&self) -> MutexGuard<'_, (Board, Lines)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events for Live {
    fn emit(&self, event: Event) {
        let (board, lines) = &mut *self.state();
        lines.emit(board, event);
    }

    fn quiet(&self) {
        self.state().1.quiet();
    }
}

impl Lines {
    fn new(terminal: bool) -> Self {
        let bar = terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner} {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar
        });
        Self { bar, said: None, last: String::new(), moves: false }
    }

    /// Applies `event` to `board`, and shows the note in it or the line that follows from it.
    fn emit(&mut self, board: &mut Board, event: Event) {
        if let Event::Note { text } = &event {
            self.say(&escape(text));
        }
        if let Some((line, at_once)) = board.apply(event) {
            self.show(line, at_once);
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) if !bar.is_finished() => bar.println(line),
            // When stderr is closed, the message is dropped.
            _ => drop(writeln!(std::io::stderr().lock(), "{line}")),
        }
    }

    fn show(&mut self, line: String, at_once: bool) {
        if let Some(bar) = &self.bar {
            bar.set_message(line);
            // The line starts with the first content: until then a password prompt may be active.
            if !std::mem::replace(&mut self.moves, true) {
                keep_ticking(bar.downgrade());
            }
        } else if at_once || self.said.is_none_or(|said| said.elapsed() >= PLAIN_EVERY) {
            if line != self.last {
                self.say(&line);
            }
            self.said = Some(Instant::now());
            self.last = line;
        }
    }

    fn quiet(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
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

impl Drop for Lines {
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
