//! The user's own commands around a run: each is awaited, has a timeout, and has its output stored with the run.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::Hooks;
use mindful_core::plan::secret::without_secrets;
use mindful_core::result::finding::codes;
use mindful_core::{Error, ErrorKind, Result, stored_names};
use mindful_host::{WatchedCommand, WatchedGroup};
use mindful_record::file;
use parking_lot::Mutex;

pub const VARIABLES: [&str; 3] = ["MINDFUL_RUN_ID", "MINDFUL_RUN_DIR", "MINDFUL_PHASE"];

const LOOK: Duration = Duration::from_millis(20);

stored_names! {
    /// When a hook is called; by the name in its environment and in the record.
    pub enum HookMoment {
        /// Before the sessions start.
        Before = "before",
        /// When they have stopped.
        After = "after",
        /// When the result is stored.
        End = "end",
    }
}

impl HookMoment {
    pub(crate) fn command(self, hooks: &Hooks) -> Option<&String> {
        let command = match self {
            Self::Before => &hooks.before,
            Self::After => &hooks.after,
            Self::End => &hooks.end,
        };
        command.as_ref()
    }
}

/// Runs the hook of `phase`, if the plan has one, for the run `id` stored in `folder`.
///
/// Its output goes to `hook-<phase>.out` in the run folder. The plan decides whether a failure is an error or a
/// finding. A signal to `stop` while it runs ends it. A hook after an interrupted run continues until the next signal.
pub(crate) fn call(
    hooks: &Hooks,
    phase: HookMoment,
    id: &str,
    folder: &Path,
    events: &dyn Events,
    stop: &StopFlag,
) -> Result<()> {
    let Some(command) = phase.command(hooks) else { return Ok(()) };
    emit_note(events, format!("hook {}: {}", phase.name(), without_secrets(command)));
    let was_requested = stop.is_requested();
    let stopped = || !was_requested && stop.is_requested();
    let Err(error) = wait_for(command, &stopped, hooks, phase, id, folder) else { return Ok(()) };
    if hooks.failure_stops || error.kind == ErrorKind::Interrupted {
        return Err(error);
    }
    let evidence = folder.join(output_name(phase)).display().to_string();
    events.emit(Event::Finding(codes::HOOK_FAILED.finding(error.to_string(), evidence)));
    Ok(())
}

fn output_name(phase: HookMoment) -> String {
    format!("hook-{}.out", phase.name())
}

fn wait_for(
    command: &str,
    stopped: &dyn Fn() -> bool,
    hooks: &Hooks,
    phase: HookMoment,
    id: &str,
    folder: &Path,
) -> Result<()> {
    let deadline = Instant::now() + hooks.timeout;
    let failed = |what: String| {
        Error::run(
            format!("hook {} {what}", phase.name()),
            format!("read {} in the run folder, or pass --hook-failure warn", output_name(phase)),
        )
    };
    let output = file::create(&folder.join(output_name(phase)))
        .map_err(|e| failed(format!("has no place for its output: {e}")))?;
    let errors = output.try_clone().map_err(|e| failed(format!("has no place for its errors: {e}")))?;
    let prepare = |shell: &mut Command| {
        shell.envs(VARIABLES.into_iter().zip([id.as_ref(), folder.as_os_str(), phase.name().as_ref()]));
        shell.stdin(Stdio::null()).stdout(output).stderr(errors);
    };
    let hook = Hook::begin(command, prepare).map_err(|e| failed(format!("did not start: {e}")))?;
    match hook.wait_until(deadline, stopped).map_err(|e| failed(format!("cannot be waited for: {e}")))? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(format!("failed: {status}"))),
        None if stopped() => Err(Error::interrupted(format!("hook {} was interrupted", phase.name()))),
        None => Err(failed(format!("did not end within {} s and was stopped", hooks.timeout.as_secs_f64()))),
    }
}

/// The hooks that run. Locked while one begins, so that code that ends them finds it, and while one
/// is waited for, because its number is reserved until then.
static RUNNING: Mutex<Vec<WatchedCommand>> = Mutex::new(Vec::new());

/// Ends the running hooks and all processes that they started. No hook starts until the result is dropped.
pub fn end() -> impl Drop {
    let running = RUNNING.lock();
    for command in running.iter() {
        command.kill();
    }
    running
}

/// A hook with all it starts, in a group that ends with this process.
struct Hook {
    shell: Child,
    command: WatchedCommand,
    group: WatchedGroup,
}

impl Hook {
    fn begin(command: &str, prepare: impl FnOnce(&mut Command)) -> std::io::Result<Self> {
        let mut running = RUNNING.lock();
        let group = WatchedGroup::start()?;
        let (shell, command) = group.spawn_hook(command, prepare)?;
        running.push(command);
        Ok(Self { shell, command, group })
    }

    fn ended(&mut self) -> std::io::Result<Option<ExitStatus>> {
        let mut running = RUNNING.lock();
        let status = self.shell.try_wait()?;
        if status.is_some() {
            running.retain(|other| *other != self.command);
            self.group.dismiss();
        }
        Ok(status)
    }

    /// Waits until it ends, at most until `deadline` or a stop; then ends it and all it started.
    fn wait_until(mut self, deadline: Instant, stopped: &dyn Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
        loop {
            let status = self.ended()?;
            if status.is_some() {
                return Ok(status);
            }
            if Instant::now() >= deadline || stopped() {
                break;
            }
            std::thread::sleep(LOOK);
        }
        self.command.kill();
        while self.ended()?.is_none() {
            std::thread::sleep(LOOK);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A final end of hooks also covers a hook that is about to begin.
    #[test]
    fn no_hook_begins_while_all_are_ended_and_one_that_has_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let begun = folder.path().join("begun");
        let command = format!("touch '{}'; sleep 60", begun.display());
        let all_ended = end();
        let beginning = std::thread::spawn(move || Hook::begin(&command, |_| ()));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!begun.exists());
        drop(all_ended);
        let mut hook = beginning.join().unwrap().unwrap();
        drop(end());
        let status = loop {
            if let Some(status) = hook.ended().unwrap() {
                break status;
            }
            std::thread::sleep(LOOK);
        };
        assert!(!status.success());
        assert!(RUNNING.lock().is_empty());
    }
}
