//! Writes a run while it happens.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Event, Events};
use mindful_core::plan::secret::without_secrets;
use mindful_core::record::run::RunHead;
use mindful_core::{Error, Result};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;

/// Longest time an event waits in memory while others keep coming.
const FLUSH_EVERY: Duration = Duration::from_secs(1);

const BUFFER_BYTES: usize = 256 << 10;

/// Appends the events of one run to its `run.jsonl`, from any thread.
///
/// Nothing is synced to the device before the end: that would disturb the storage under test. A killed process loses
/// unflushed data, at most about a second of slices and samples.
#[derive(Debug)]
pub struct RunWriter {
    pub head: RunHead,
    pub dir: PathBuf,
    /// Whether the former content was written here, and no other user could have written it.
    pub own: bool,
    log: Mutex<Log>,
}

#[derive(Debug)]
struct Log {
    file: File,
    buffer: Vec<u8>,
    flushed: Instant,
    fault: Option<Error>,
}

impl RunWriter {
    /// Begins `file` in `dir` with `head`. The file stays locked until the writer is closed or dropped, or its process ends.
    pub(crate) fn begin(head: RunHead, dir: PathBuf, file: File) -> Result<Self> {
        lock(&file, &head.id)?;
        let writer = Self::go_on(head, dir, file, true);
        writer.append(&Event::Head(writer.head.clone()));
        writer.fault().map_or(Ok(writer), Err)
    }

    /// Continues a run that has its head; `own` is false for a run of others.
    pub(crate) fn go_on(head: RunHead, dir: PathBuf, file: File, own: bool) -> Self {
        let log = Log { file, buffer: Vec::new(), flushed: Instant::now(), fault: None };
        Self { head, dir, own, log: Mutex::new(log) }
    }

    /// The first error met while writing, such as a full disk. After it nothing more is written.
    pub fn fault(&self) -> Option<Error> {
        self.log.lock().fault.clone()
    }

    /// Writes buffered data, makes it durable and releases the lock. Fails with the first error of this and earlier
    /// writes.
    pub fn close(&self) -> Result<()> {
        let mut log = self.log.lock();
        log.flush(&self.dir);
        if log.fault.is_none() {
            let synced = log.file.sync_all();
            log.note_fault(synced, &self.dir);
        }
        // A lock that cannot be released ends with the file.
        let _ = log.file.unlock();
        log.fault.clone().map_or(Ok(()), Err)
    }

    fn append(&self, event: &Event) {
        let line = line(event);
        let mut log = self.log.lock();
        if log.fault.is_some() {
            return;
        }
        match line {
            Ok(line) => {
                log.buffer.extend_from_slice(&line);
                log.buffer.push(b'\n');
            }
            Err(error) => {
                log.fault = Some(Error::run(
                    format!("an event of run {} cannot be written: {error}", self.head.id),
                    "report this",
                ));
            }
        }
        if !is_bulk(event) || log.buffer.len() >= BUFFER_BYTES || log.flushed.elapsed() >= FLUSH_EVERY {
            log.flush(&self.dir);
        }
    }
}

impl Events for RunWriter {
    fn emit(&self, event: Event) {
        // The head is written already; readiness and progress are for live views only.
        if !matches!(event, Event::Head(_) | Event::Ready { .. } | Event::Progress { .. }) {
            self.append(&event);
        }
    }
}

impl Drop for RunWriter {
    fn drop(&mut self) {
        self.log.lock().flush(&self.dir);
    }
}

impl Log {
    fn flush(&mut self, dir: &Path) {
        if self.fault.is_none() && !self.buffer.is_empty() {
            let written = self.file.write_all(&self.buffer);
            self.note_fault(written, dir);
        }
        self.buffer.clear();
        self.flushed = Instant::now();
    }

    fn note_fault(&mut self, result: std::io::Result<()>, dir: &Path) {
        if let Err(error) = result {
            let next = match error.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free space, or store runs elsewhere with --store",
                _ => "store runs elsewhere with --store",
            };
            self.fault =
                Some(Error::run(format!("cannot write {}: {error}", dir.join(crate::name::LOG).display()), next));
        }
    }
}

/// Locks the run for this process: two writers would damage one record permanently.
pub(crate) fn lock(file: &File, id: &str) -> Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Error::plan(
            format!("run {id} is being written by another mindful"),
            "wait until that has ended, or stop it",
        )),
        Err(TryLockError::Error(error)) => Err(Error::run(
            format!("run {id} cannot be locked: {error}"),
            "store runs on a file system with locks, with --store",
        )),
    }
}

/// An event as it is stored, with secrets masked. Frequent events contain no text from outside.
fn line(event: &Event) -> serde_json::Result<Vec<u8>> {
    if is_bulk(event) {
        return serde_json::to_vec(event);
    }
    let mut value = to_value(event)?;
    clean(&mut value);
    serde_json::to_vec(&value)
}

/// As `serde_json::to_value`, by way of text: a second way to serialize each type takes seconds to build.
pub(crate) fn to_value(of: &impl Serialize) -> serde_json::Result<Value> {
    serde_json::from_slice(&serde_json::to_vec(of)?)
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_secrets(text),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Events that come by the hundred a second and may wait a moment.
fn is_bulk(event: &Event) -> bool {
    matches!(event, Event::Slice { .. } | Event::Sample { .. } | Event::Latencies { .. } | Event::Busiest { .. })
}

#[cfg(test)]
mod tests {
    use mindful_core::contract::event::emit_note;
    use mindful_core::plan::settings::{Origin, Settings};
    use mindful_core::plan::{KEYS, Plan};

    use super::*;

    fn head() -> RunHead {
        let mut settings = Settings::defaults(KEYS);
        settings.set("target", "null:", Origin::Default);
        let plan = Plan::from_settings(&settings).unwrap();
        RunHead { id: "x".to_owned(), ..RunHead::new("null", plan, settings) }
    }

    #[test]
    fn a_full_disk_is_reported_and_not_swallowed() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let writer = RunWriter::go_on(head(), PathBuf::from("/runs/x"), full, true);
        emit_note(&writer, "one");
        emit_note(&writer, "two");
        let fault = writer.fault().unwrap().to_string();
        assert!(fault.contains("/runs/x/run.jsonl") && fault.contains("--store"), "{fault}");
        assert_eq!(writer.close().unwrap_err().to_string(), fault);
    }
}
