//! Reads a run folder in any state, whole or as one line of the list of runs.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek};
use std::path::Path;

use mindful_core::contract::event::Event;
use mindful_core::record::run::{FORMAT, Run, RunHead};
use mindful_core::result::Summary;
use mindful_core::{Error, Result};
use serde::Deserialize;

use crate::file;
use crate::fold::Fold;
use crate::name::{IMPORTED, LOG, SUMMARY};

/// Longest line that is read, bytes: far more than a step with the most possible sessions needs.
const LONGEST_LINE: u64 = 64 << 20;

/// Reads the run in `file`, a `run.jsonl`.
///
/// A last line without its end is dropped: the writer was stopped in the middle of it. Any other line that cannot be
/// understood is an error with its number.
pub fn read_run(file: &Path) -> Result<Run> {
    read_changed(file, &mut |_| Ok(()))
}

/// The same of the content of a record; `path` is for messages.
pub fn read_text(text: &str, path: &Path) -> Result<Run> {
    read_lines(&mut Lines { path, input: Box::new(text.as_bytes()), number: 0, whole: 0 }, &mut |_| Ok(()))
}

/// Reads an open file from its start; also returns the bytes of its complete lines. `path` is for messages.
pub(crate) fn read_opened(file: File, path: &Path) -> Result<(Run, u64)> {
    let mut lines = Lines::of(file, path)?;
    let run = read_lines(&mut lines, &mut |_| Ok(()))?;
    Ok((run, lines.whole))
}

/// The same, each event changed by `change` before anything is made of it; the head is the first.
pub(crate) fn read_changed(file: &Path, change: &mut dyn FnMut(&mut Event) -> Result<()>) -> Result<Run> {
    read_lines(&mut Lines::open(file)?, change)
}

fn read_lines(lines: &mut Lines<'_>, change: &mut dyn FnMut(&mut Event) -> Result<()>) -> Result<Run> {
    let mut head = Event::Head(lines.head()?);
    change(&mut head)?;
    let Event::Head(head) = head else { return Err(lines.corrupt("the first line is not the head")) };
    let mut fold = Fold::new(head);
    while let Some(line) = lines.next_line()? {
        match lines.event(&line)? {
            Some(mut event) => {
                change(&mut event)?;
                fold.add(event).map_err(|why| lines.corrupt(&why))?;
            }
            None => fold.skip(),
        }
    }
    Ok(fold.into_run())
}

pub(crate) fn each_event(file: &Path, each: &mut dyn FnMut(Event) -> Result<()>) -> Result<()> {
    let mut lines = Lines::open(file)?;
    each(Event::Head(lines.head()?))?;
    while let Some(line) = lines.next_line()? {
        lines.event(&line)?.map_or(Ok(()), &mut *each)?;
    }
    Ok(())
}

/// Passes each complete line of `file`, without its end, to `each`, and keeps no line.
pub(crate) fn each_line(file: &Path, each: &mut dyn FnMut(&str) -> Result<()>) -> Result<()> {
    let mut lines = Lines::open(file)?;
    while let Some(line) = lines.next_line()? {
        each(&String::from_utf8(line).map_err(|error| unread(file, &io::Error::other(error)))?)?;
    }
    Ok(())
}

pub(crate) fn read_head(file: &Path) -> Result<RunHead> {
    Lines::open(file)?.head()
}

struct Lines<'a> {
    path: &'a Path,
    input: Box<dyn BufRead + 'a>,
    number: u64,
    /// Bytes of the whole lines so far.
    whole: u64,
}

impl<'a> Lines<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        Self::of(file::open_itself(path).map_err(|error| unread(path, &error))?, path)
    }

    fn of(mut file: File, path: &'a Path) -> Result<Self> {
        file.rewind().map_err(|error| unread(path, &error))?;
        Ok(Self { path, input: Box::new(BufReader::with_capacity(1 << 20, file)), number: 0, whole: 0 })
    }

    /// The next whole line without its end; a torn last line is not returned.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input)
            .take(LONGEST_LINE + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| Error::run(format!("cannot read {}: {error}", self.path.display()), ""))?;
        self.number += 1;
        if line.len() as u64 > LONGEST_LINE {
            return Err(self.corrupt(&format!("it is longer than {LONGEST_LINE} bytes")));
        }
        let bytes = line.len() as u64;
        let is_whole = line.pop() == Some(b'\n');
        self.whole += if is_whole { bytes } else { 0 };
        Ok(is_whole.then_some(line))
    }

    fn head(&mut self) -> Result<RunHead> {
        let line = self.next_line()?.ok_or_else(|| {
            Error::run(
                format!("{} ends before its first line", self.path.display()),
                "nothing was measured; remove the folder",
            )
        })?;
        self.check_format(&line)?;
        match serde_json::from_slice(&line) {
            Ok(Event::Head(head)) => Ok(head),
            Ok(_) => Err(self.corrupt("the first line is not the head")),
            Err(error) => Err(self.corrupt(&error.to_string())),
        }
    }

    /// The format comes before everything else: the rest of a newer head may be of another shape.
    fn check_format(&self, line: &[u8]) -> Result<()> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
            #[serde(default)]
            mindful_version: String,
        }
        match serde_json::from_slice::<Format>(line) {
            Ok(head) if head.format > FORMAT => Err(Error::run(
                format!("{} has run format {}, this mindful reads up to {FORMAT}", self.path.display(), head.format),
                format!("read it with mindful {} or newer", head.mindful_version),
            )),
            Ok(_) => Ok(()),
            Err(error) => Err(self.corrupt(&error.to_string())),
        }
    }

    /// The event of a line; `None` if this version has no such event.
    fn event(&self, line: &[u8]) -> Result<Option<Event>> {
        #[derive(Deserialize)]
        struct Name {
            event: String,
            what: Option<serde_json::Value>,
        }
        let has_known = |name: &Name| {
            let inner = name.what.as_ref().and_then(|what| what.get("event")?.as_str());
            [Some(name.event.as_str()), inner].into_iter().flatten().all(is_known)
        };
        match serde_json::from_slice(line) {
            Ok(event) => Ok(Some(event)),
            Err(error) => match serde_json::from_slice::<Name>(line) {
                Ok(name) if !has_known(&name) => Ok(None),
                _ => Err(self.corrupt(&error.to_string())),
            },
        }
    }

    fn corrupt(&self, why: &str) -> Error {
        Error::run(
            format!("{} line {} is corrupt: {why}", self.path.display(), self.number),
            "cut the file before that line to read what comes before it",
        )
    }
}

/// Whether this format has an event of that name. A line of another name is of a later version: it is passed over and
/// counted.
fn is_known(name: &str) -> bool {
    let alone = serde_json::json!({ "event": name }).to_string();
    // Of an event without fields serde faults only an unknown name so.
    serde_json::from_slice::<Event>(alone.as_bytes())
        .err()
        .is_none_or(|error| !error.to_string().starts_with("unknown variant"))
}

pub(crate) fn unread(path: &Path, error: &io::Error) -> Error {
    Error::run(format!("cannot read {}: {error}", path.display()), "the folder holds no run; remove it by hand")
}

/// A run in the list, read only from its first line and its summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// Its id: the name of its folder.
    pub id: String,
    /// Facts at its start; `None` if they cannot be read.
    pub head: Option<RunHead>,
    /// Its figures; `None` if it did not finish.
    pub summary: Option<Summary>,
    pub imported: bool,
    pub fault: Option<String>,
}

impl Listed {
    pub(crate) fn read(id: String, dir: &Path) -> Self {
        let imported = dir.join(IMPORTED).exists();
        match read_head(&dir.join(LOG)).and_then(|head| Ok((head, read_summary(&dir.join(SUMMARY))?))) {
            Ok((mut head, mut summary)) => {
                // A run has the name of its folder, even if its record contains another.
                head.id.clone_from(&id);
                if let Some(summary) = &mut summary {
                    summary.id.clone_from(&id);
                }
                Self { id, head: Some(head), summary, imported, fault: None }
            }
            Err(error) => Self { id, head: None, summary: None, imported, fault: Some(error.to_string()) },
        }
    }
}

/// Longest summary that is read, bytes.
const LONGEST_SUMMARY: u64 = 256 << 20;

/// The stored figures in `file`; `None` without figures, or with figures of a later format.
pub(crate) fn read_summary(path: &Path) -> Result<Option<Summary>> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let corrupt = |error: &dyn Display| {
        Error::run(format!("{} is corrupt: {error}", path.display()), "`mindful show` of the run makes it again")
    };
    let text = match file::open_itself(path).and_then(|opened| file::text(opened, LONGEST_SUMMARY)) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(corrupt(&error)),
    };
    if serde_json::from_slice::<Format>(text.as_bytes()).map_err(|error| corrupt(&error))?.format > FORMAT {
        return Ok(None);
    }
    serde_json::from_slice(text.as_bytes()).map(Some).map_err(|error| corrupt(&error))
}
