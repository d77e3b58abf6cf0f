//! The full screen: the board drawn several times a second, until `q`, the end of the run, or the end of the terminal. The
//! run never waits for it.
//!
//! Keys are read here and not by crossterm, which reads without end from a terminal that has hung up. A frame is drawn only
//! when the terminal takes output: one that a broken connection holds up would block the drawing thread.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write, stderr, stdin};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use mindful_core::{Error, Result};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{Clear, ClearType, EnterAlternateScreen};
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::Lines;
use super::board::{Board, WatchedBoard};
use super::layout;

const FRAME: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
/// Shortest time between two frames, however much is typed.
const SHORTEST_FRAME: Duration = Duration::from_millis(50);
/// Longest wait for the frame in progress at the end of the view.
const LAST_FRAME: Duration = Duration::from_secs(1);
/// The board has nothing to show in more columns and lines. A terminal can claim to be 65,535 wide and high.
const LARGEST: (u16, u16) = (300, 200);
/// For a terminal without a size.
const USUAL: (u16, u16) = (80, 24);
/// Shows the cursor and leaves the alternate screen.
const GIVE_BACK: &[u8] = b"\x1b[?25h\x1b[?1049l";

/// Whether the terminal is ours: one process has one screen.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// The modes of the terminal before the first time that it was taken.
static BEFORE: OnceLock<Termios> = OnceLock::new();
static GONE: AtomicBool = AtomicBool::new(false);
/// Set when the panic hook that restores the terminal is installed.
static HOOKED: Once = Once::new();

#[derive(Debug)]
pub struct Screen {
    shared: Arc<Shared>,
    drawing: Mutex<Option<Receiver<()>>>,
}

#[derive(Debug)]
struct Shared {
    board: Mutex<Board>,
    /// Set when the view was left: from then on lines report progress.
    lines: Mutex<Option<Lines>>,
    ended: AtomicBool,
    colour: bool,
}

impl Screen {
    /// Takes the terminal on stderr, for a run or for a server that is `watched`. `interrupt` is called for Ctrl-C, which a
    /// terminal in our mode does not send as a signal.
    ///
    /// # Errors
    /// The terminal cannot be taken.
    pub fn open(watched: Option<WatchedBoard>, colour: bool, interrupt: fn()) -> Result<Self> {
        let refused =
            |error: io::Error| Error::plan(format!("cannot take the terminal for --live: {error}"), "omit --live");
        let terminal = File::from(stderr().as_fd().try_clone_to_owned().map_err(refused)?);
        take(&terminal).map_err(refused)?;
        HOOKED.call_once(give_back_on_panic);
        let shared = Arc::new(Shared {
            board: Mutex::new(Board::of(watched)),
            lines: Mutex::default(),
            ended: AtomicBool::new(false),
            colour,
        });
        let (own, (running, drawing)) = (Arc::clone(&shared), channel());
        let draw = move || own.draw(&terminal, &running, interrupt);
        std::thread::Builder::new().name("screen".to_owned()).spawn(draw).map_err(|error| {
            restore();
            refused(error)
        })?;
        Ok(Self { shared, drawing: Mutex::new(Some(drawing)) })
    }

    /// Restores the terminal after the last frame, or when it accepts no more output.
    fn leave(&self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        let drawing = self.drawing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(drawing) = drawing {
            // The thread sends nothing: its end closes the channel. A panic there has already printed its message.
            let _ = drawing.recv_timeout(LAST_FRAME);
        }
        restore();
    }
}

/// A panic is reported on the terminal as it was: the content of our screen is lost with it.
fn give_back_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
    }));
}

/// Sends each key when it is pressed, without echo.
fn take(terminal: &File) -> io::Result<()> {
    let mut modes = tcgetattr(terminal)?;
    BEFORE.get_or_init(|| modes.clone());
    modes.make_raw();
    tcsetattr(terminal, OptionalActions::Now, &modes)?;
    TAKEN.store(true, Ordering::SeqCst);
    Ok(())
}

/// Restores the terminal if it was taken; for code that ends the process at once. A signal handler may call this: it takes no
/// lock, allocates nothing, and does not wait.
pub fn restore() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        if takes_output() {
            // Without a terminal there is nothing to restore.
            let _ = rustix::io::write(stderr(), GIVE_BACK);
        }
        if let Some(before) = BEFORE.get() {
            let _ = tcsetattr(stderr(), OptionalActions::Now, before);
        }
    }
}

/// Whether the terminal of the full screen has hung up, so that the view is not visible.
fn is_gone() -> bool {
    GONE.load(Ordering::SeqCst)
}

/// Whether the view was left, or its terminal is gone.
pub fn is_left() -> bool {
    is_gone() || !TAKEN.load(Ordering::SeqCst)
}

fn takes_output() -> bool {
    let stderr = stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    poll(&mut ready, Some(&Timespec::default())).is_ok() && ready[0].revents() == PollFlags::OUT
}

fn drawn_area() -> Rect {
    let known = tcgetwinsize(stderr()).ok().map(|size| (size.ws_col, size.ws_row));
    let (wide, high) = known.filter(|(wide, high)| *wide > 0 && *high > 0).unwrap_or(USUAL);
    Rect::new(0, 0, wide.min(LARGEST.0), high.min(LARGEST.1))
}

/// Writes to the terminal until it hangs up; then output is dropped, and the run continues.
#[derive(Debug)]
struct Output<'a>(&'a File);

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                GONE.store(true, Ordering::SeqCst);
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Canvas<'a> = Terminal<CrosstermBackend<BufWriter<Output<'a>>>>;

/// An empty canvas of that size. The size is set because crossterm runs `tput` if it cannot find one.
fn canvas(terminal: &File, area: Rect) -> io::Result<Canvas<'_>> {
    let mut output = BufWriter::new(Output(terminal));
    execute!(output, Clear(ClearType::All))?;
    Terminal::with_options(CrosstermBackend::new(output), TerminalOptions { viewport: Viewport::Fixed(area) })
}

impl Shared {
    /// Draws until the view is left. `_running` is dropped at the end.
    fn draw(&self, terminal: &File, _running: &Sender<()>, interrupt: fn()) {
        // It fails only if the terminal does.
        let _ = self.draw_frames(terminal, interrupt);
        let left = !self.ended.load(Ordering::SeqCst);
        if !stderr().is_terminal() {
            GONE.store(true, Ordering::SeqCst);
        }
        restore();
        if left && !is_gone() {
            *self.lines() = Some(Lines::new(true));
        }
    }

    fn draw_frames(&self, terminal: &File, interrupt: fn()) -> io::Result<()> {
        execute!(Output(terminal), EnterAlternateScreen)?;
        let mut area = drawn_area();
        let mut canvas_of_area = canvas(terminal, area)?;
        while !self.ended.load(Ordering::SeqCst) && TAKEN.load(Ordering::SeqCst) {
            let begun = Instant::now();
            if takes_output() {
                let now = drawn_area();
                if now != area {
                    (area, canvas_of_area) = (now, canvas(terminal, now)?);
                }
                canvas_of_area.draw(|frame| layout::draw(frame, &self.board(), self.colour))?;
            }
            if key_leaves(interrupt) || is_gone() {
                break;
            }
            std::thread::sleep(SHORTEST_FRAME.saturating_sub(begun.elapsed()));
        }
        Ok(())
    }

    fn lines(&self) -> MutexGuard<'_, Option<Lines>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for a key, at most the length of a frame; returns whether it leaves the view, as the end of the terminal does.
fn key_leaves(interrupt: fn()) -> bool {
    let keyboard = stdin();
    let mut ready = [PollFd::new(&keyboard, PollFlags::IN)];
    match poll(&mut ready, Some(&FRAME)) {
        Ok(0) | Err(Errno::INTR) => return false,
        Ok(_) if ready[0].revents().contains(PollFlags::IN) => {}
        // It hung up.
        Ok(_) | Err(_) => return true,
    }
    let mut typed = [0; 64];
    match rustix::io::read(&keyboard, &mut typed) {
        Ok(0) => true,
        Ok(length) => typed_leaves(&typed[..length], interrupt),
        Err(error) => !matches!(error, Errno::INTR | Errno::AGAIN),
    }
}

fn typed_leaves(typed: &[u8], interrupt: fn()) -> bool {
    const ESCAPE: u8 = 0x1b;
    const CTRL_C: u8 = 3;
    if typed.contains(&CTRL_C) {
        interrupt();
    }
    match typed {
        [ESCAPE] => true,
        // A key such as an arrow.
        [ESCAPE, ..] => false,
        letters => letters.contains(&b'q'),
    }
}

impl Events for Screen {
    fn emit(&self, event: Event) {
        let (mut lines, mut board) = (self.shared.lines(), self.shared.board());
        match lines.as_mut() {
            Some(lines) => lines.emit(&mut board, event),
            None => drop(board.apply(event)),
        }
    }

    fn quiet(&self) {
        self.leave();
        if let Some(lines) = self.shared.lines().as_ref() {
            lines.quiet();
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.leave();
    }
}
