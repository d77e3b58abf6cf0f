//! Signals. The first Ctrl-C or SIGTERM requests a stop. The second ends the process and everything that it started.
//!
//! SIGHUP always requests a stop and never ends the process: a shell that loses its terminal passes the hang-up on, and
//! the kernel sends it again when that shell has ended. Under `nohup` SIGHUP stays ignored.
//!
//! `abort`, for example when memory runs out, ends the process as soon as the handlers of SIGABRT have returned. So the
//! terminal is restored in a handler.
//!
//! For every other fatal signal, mindful first ends its hooks and restores the terminal. SIGXFSZ ends nothing: the
//! write beyond the file size limit returns an error that names its file.

use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::ptr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::{Error, Result};
use mindful_host::{priority, terminal};
use mindful_report::live::screen;
use mindful_runner::hooks;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_process};
use signal_hook::consts::{
    SIGABRT, SIGALRM, SIGBUS, SIGCHLD, SIGHUP, SIGINT, SIGPROF, SIGQUIT, SIGSYS, SIGTERM, SIGTRAP, SIGUSR1, SIGUSR2,
    SIGVTALRM, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{self, emulate_default_handler, signal_name};

/// Signals that end the process by default, except those of a faulty instruction, which no other thread can handle.
const FATAL: [c_int; 14] = [
    SIGABRT,
    SIGALRM,
    SIGBUS,
    SIGPROF,
    SIGQUIT,
    SIGSYS,
    SIGTRAP,
    SIGUSR1,
    SIGUSR2,
    SIGVTALRM,
    SIGXCPU,
    Signal::IO.as_raw(),
    Signal::POWER.as_raw(),
    Signal::STKFLT.as_raw(),
];
/// Real-time signals, without those that a C library may use.
const REAL_TIME: RangeInclusive<c_int> = 35..=64;

static STOP: OnceLock<StopFlag> = OnceLock::new();

/// From now on a write beyond the file size limit fails instead of ending the process, processes can be waited for even if
/// SIGCHLD was ignored, and no signal is blocked.
pub(crate) fn replace_inherited() {
    unblock_all();
    // A handler interrupts system calls that wait, so SIGCHLD has one only if it was ignored.
    let ignored = is_ignored(SIGCHLD).then_some(SIGCHLD);
    for signal in [SIGXFSZ].into_iter().chain(ignored) {
        // If that fails, the signal does what it does without this.
        let _ = signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)));
    }
}

/// A process inherits the mask of its parent, and a blocked SIGTERM would never end it.
#[expect(unsafe_code, reason = "no safe call changes the mask; see its SAFETY note")]
fn unblock_all() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the first call writes the set that the second reads. Both fail only for wrong arguments.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

pub(crate) fn stop_on_signal() -> Result<StopFlag> {
    if let Some(stop) = STOP.get() {
        return Ok(stop.clone());
    }
    let failed = |error: io::Error| {
        Error::run(format!("cannot handle signals: {error}"), "raise ulimit -u, or end other processes")
    };
    let stop = StopFlag::default();
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let fatal = FATAL.into_iter().chain(REAL_TIME);
    // Handlers run in the order of their registration, and the thread of the signals ends the process.
    restore_on_abort().map_err(failed)?;
    let mut signals = Signals::new(fatal.chain([SIGINT, SIGTERM]).chain(hang_up)).map_err(failed)?;
    let requested = stop.clone();
    let handling = move || signals.forever().for_each(|signal| handle(signal, &requested));
    Builder::new().name("signals".to_owned()).spawn(handling).map_err(failed)?;
    Ok(STOP.get_or_init(|| stop).clone())
}

#[expect(unsafe_code, reason = "a signal handler; see its SAFETY note")]
fn restore_on_abort() -> io::Result<()> {
    let restore = || {
        screen::restore();
        say(b"mindful: ended by SIGABRT; stored results stay readable\n");
    };
    // SAFETY: it makes only system calls that a handler may make, without locks and allocations.
    unsafe { low_level::register(SIGABRT, restore) }.map(drop)
}

fn handle(signal: c_int, stop: &StopFlag) {
    match signal {
        SIGINT | SIGTERM if stop.is_requested() || stop.may_exit_at_once() => exit_at_once(stop),
        SIGHUP if stop.may_exit_at_once() => exit_at_once(stop),
        SIGINT | SIGTERM | SIGHUP => stop.request(),
        fatal => end_by(fatal),
    }
}

fn exit_at_once(stop: &StopFlag) {
    let _no_hook_begins = give_back();
    if !stop.is_requested() {
        say(b"mindful: interrupted\n");
    }
    exit(130)
}

fn end_by(fatal: c_int) {
    let _no_hook_begins = give_back();
    let name = signal_name(fatal).map_or_else(|| format!("signal {fatal}"), str::to_owned);
    // Its handler has already reported it.
    if fatal != SIGABRT {
        say(format!("mindful: ended by {name}; stored results stay readable\n").as_bytes());
    }
    // It ends the process with the signal, unless the signal is unknown to it.
    let _ = emulate_default_handler(fatal);
    exit(128 + fatal)
}

fn exit(code: i32) -> ! {
    #[expect(clippy::exit, reason = "a signal that insists, or there is nothing to lose; stored results stay readable")]
    std::process::exit(code)
}

/// Ends the children of this process, and releases its resources. A hook that starts after this would outlive the
/// process: no hook starts until the result is dropped.
fn give_back() -> impl Drop {
    let no_hook_begins = hooks::end();
    screen::restore();
    terminal::restore();
    priority::give_back_all();
    no_hook_begins
}

/// A line on stderr, unless stderr is closed or would block.
fn say(line: &[u8]) {
    let stderr = io::stderr();
    let mut ready = [PollFd::new(&stderr, PollFlags::OUT)];
    if poll(&mut ready, Some(&Timespec::default())).is_ok() && ready[0].revents() == PollFlags::OUT {
        let _ = rustix::io::write(&stderr, line);
    }
}

/// Whether a signal was ignored when this process was started, as `nohup` does with SIGHUP.
fn is_ignored(signal: c_int) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    ignored.is_some_and(|signals| signals & 1 << (signal - 1) != 0)
}

/// Acts like Ctrl-C, for a terminal in raw mode.
pub(crate) fn interrupt() {
    // A process may always signal itself.
    let _ = kill_process(getpid(), Signal::INT);
}
