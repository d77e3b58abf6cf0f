//! The full screen: the board drawn several times a second, until `q` or the end of the run. The run itself never waits
//! for it.

use std::io::{Stderr, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mindful_core::contract::event::{Event, Events};
use mindful_core::{Error, Result};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};

use super::Live;
use super::board::Board;
use super::layout;

/// How long the screen stands before it is drawn again, unless a key is pressed.
const REDRAWN: Duration = Duration::from_millis(200);

/// Whether the terminal is ours: one process has one screen.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Done when a panic gives the terminal back.
static HOOKED: Once = Once::new();

/// Shows events on the whole terminal.
#[derive(Debug)]
pub struct Screen {
    shared: Arc<Shared>,
    drawing: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    board: Mutex<Board>,
    /// Set when the view was left: from then on lines tell what goes on.
    lines: Mutex<Option<Live>>,
    ended: AtomicBool,
    colour: bool,
}

impl Screen {
    /// Takes the terminal on stderr. `interrupt` is called for Ctrl-C, which a terminal that is ours does not tell by a
    /// signal.
    ///
    /// # Errors
    /// The terminal cannot be taken.
    pub fn open(colour: bool, interrupt: fn()) -> Result<Self> {
        let refused = |error: std::io::Error| {
            Error::plan(format!("the terminal cannot be taken for --live: {error}"), "leave --live out")
        };
        enable_raw_mode().map_err(refused)?;
        TAKEN.store(true, Ordering::SeqCst);
        HOOKED.call_once(give_back_on_panic);
        execute!(stderr(), EnterAlternateScreen).map_err(refused)?;
        let terminal = Terminal::new(CrosstermBackend::new(stderr())).map_err(refused)?;
        let shared = Arc::new(Shared {
            board: Mutex::default(),
            lines: Mutex::default(),
            ended: AtomicBool::new(false),
            colour,
        });
        let own = Arc::clone(&shared);
        let drawing = std::thread::spawn(move || own.draw(terminal, interrupt));
        Ok(Self { shared, drawing: Mutex::new(Some(drawing)) })
    }

    /// Gives the terminal back, and waits until nothing is drawn any more.
    fn leave(&self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        let drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(drawing) = drawing {
            // A panic there was reported by itself.
            let _ = drawing.join();
        }
        restore();
    }
}

/// A panic is reported on the terminal as it was: what stands on a screen of ours is gone with it.
fn give_back_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
    }));
}

/// Gives the terminal back, where it was taken; for who ends the process at once.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // With the terminal gone there is nothing to give back.
        let _ = execute!(stderr(), LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

impl Shared {
    fn draw(&self, mut terminal: Terminal<CrosstermBackend<Stderr>>, interrupt: fn()) {
        while !self.ended.load(Ordering::SeqCst) && TAKEN.load(Ordering::SeqCst) {
            let drawn = terminal.draw(|frame| layout::draw(frame, &self.board(), self.colour));
            if drawn.is_err() || left(interrupt) {
                break;
            }
        }
        let quits = !self.ended.load(Ordering::SeqCst);
        restore();
        if quits {
            *self.lines.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.lines_to_go_on());
        }
    }

    /// The lines that go on where the view was left.
    fn lines_to_go_on(&self) -> Live {
        let live = Live::new(true);
        let board = self.board();
        live.go_on(board.step.clone(), board.boundaries().to_vec(), board.findings.clone());
        live
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a key; whether it leaves the view.
fn left(interrupt: fn()) -> bool {
    match event::poll(REDRAWN) {
        Ok(true) => {}
        Ok(false) => return false,
        // A terminal that is gone has no keys.
        Err(_) => return true,
    }
    let Ok(Input::Key(key)) = event::read() else { return false };
    if key.kind == KeyEventKind::Release {
        return false;
    }
    if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
        interrupt();
    }
    matches!(key.code, KeyCode::Char('q') | KeyCode::Esc)
}

impl Events for Screen {
    fn emit(&self, event: Event) {
        self.shared.board().take(event.clone());
        if let Some(lines) = self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            lines.emit(event);
        }
    }

    fn quiet(&self) {
        self.leave();
        if let Some(lines) = self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            lines.quiet();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}
