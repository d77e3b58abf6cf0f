//! The user's own commands around a run: waited for, bounded in time, their output stored with the run.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::{Duration, Instant};

use mindful_core::engine::Stop;
use mindful_core::event::{Event, Events, note};
use mindful_core::finding::codes;
use mindful_core::plan::Hooks;
use mindful_core::secret::without_secrets;
use mindful_core::{Error, ErrorKind, Result};
use mindful_record::file;
use rustix::process::{Pid, Signal, kill_process_group};

/// Variables a hook finds in its environment.
pub const VARIABLES: [&str; 3] = ["MINDFUL_RUN_ID", "MINDFUL_RUN_DIR", "MINDFUL_PHASE"];

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    /// Before the sessions start.
    Before,
    /// When they have stopped.
    After,
    /// When the result is stored.
    End,
}

impl HookMoment {
    /// Its name in the environment of the command and in the record.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::End => "end",
        }
    }
}

impl HookMoment {
    /// The command for it, where the plan has one.
    pub fn command(self, hooks: &Hooks) -> Option<&String> {
        let command = match self {
            Self::Before => &hooks.before,
            Self::After => &hooks.after,
            Self::End => &hooks.end,
        };
        command.as_ref()
    }
}

/// Runs the hook of `phase`, if there is one, for the run `id` stored in `folder`.
///
/// Its output goes to `hook-<phase>.out` in the run folder. A failure is an error or a finding, as the plan says. Who asks
/// to `stop` while it runs ends it; one that follows an interrupted run is left to its work until asked again.
pub fn call(hooks: &Hooks, phase: HookMoment, id: &str, folder: &Path, events: &dyn Events, stop: &Stop) -> Result<()> {
    let Some(command) = phase.command(hooks) else { return Ok(()) };
    note(events, format!("hook {}: {}", phase.name(), without_secrets(command)));
    let over = Over { deadline: Instant::now() + hooks.timeout, stop: Some(stop).filter(|stop| !stop.requested()) };
    let Err(error) = wait_for(command, &over, hooks, phase, id, folder) else { return Ok(()) };
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

/// When a hook has to be over, whether it is or not.
struct Over<'a> {
    deadline: Instant,
    stop: Option<&'a Stop>,
}

impl Over<'_> {
    fn stopped(&self) -> bool {
        self.stop.is_some_and(Stop::requested)
    }
}

fn wait_for(command: &str, over: &Over<'_>, hooks: &Hooks, phase: HookMoment, id: &str, folder: &Path) -> Result<()> {
    let failed = |what: String| {
        Error::run(
            format!("hook {} {what}", phase.name()),
            format!("read {} in the run folder, or give --hook-failure warn", output_name(phase)),
        )
    };
    let output = file::create(&folder.join(output_name(phase)))
        .map_err(|e| failed(format!("has no place for its output: {e}")))?;
    let errors = output.try_clone().map_err(|e| failed(format!("has no place for its errors: {e}")))?;
    let child = Command::new("sh")
        .args(["-c", command])
        .envs(VARIABLES.into_iter().zip([id.as_ref(), folder.as_os_str(), phase.name().as_ref()]))
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        // A group of its own, so that all it started can be ended with it.
        .process_group(0)
        .spawn()
        .map_err(|e| failed(format!("did not start: {e}")))?;
    match wait_within(child, over).map_err(|e| failed(format!("cannot be waited for: {e}")))? {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(failed(format!("failed: {status}"))),
        None if over.stopped() => Err(Error::interrupted(format!("hook {} was interrupted", phase.name()))),
        None => Err(failed(format!("did not end within {} s and was stopped", hooks.timeout.as_secs_f64()))),
    }
}

/// Process group of the hook that runs; 0 while none does.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Ends the hook that runs, and all it started.
pub fn end() {
    if let Some(group) = Pid::from_raw(RUNNING.load(Ordering::SeqCst)) {
        // It may have ended this very moment.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Waits until it has to be `over`; then ends the child's whole group.
fn wait_within(mut child: Child, over: &Over<'_>) -> std::io::Result<Option<ExitStatus>> {
    RUNNING.store(i32::try_from(child.id()).unwrap_or(0), Ordering::SeqCst);
    let ended = loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() >= over.deadline || over.stopped() {
            break status;
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    if ended.is_none() {
        end();
        child.wait()?;
    }
    RUNNING.store(0, Ordering::SeqCst);
    Ok(ended)
}
