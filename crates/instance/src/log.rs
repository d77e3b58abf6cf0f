//! Output of the server, for messages.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::files::{open_file, own_file};

/// Beyond this size a new log begins; one older log is kept.
const LARGEST: u64 = 4 << 20;

pub(crate) struct Log {
    path: PathBuf,
    from: u64,
}

impl Log {
    pub(crate) fn from_now(path: &Path) -> io::Result<Self> {
        let mut from = fs::metadata(path).map_or(0, |meta| meta.len());
        if from > LARGEST {
            fs::rename(path, path.with_extension("log.old"))?;
            from = 0;
        }
        Ok(Self { path: path.to_owned(), from })
    }

    pub(crate) fn append(&self) -> io::Result<File> {
        own_file(&self.path)?;
        OpenOptions::new().append(true).open(&self.path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn said(&self) -> String {
        self.text().unwrap_or_default()
    }

    fn text(&self) -> io::Result<String> {
        let mut file = open_file(&self.path)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The first line of `said` with one of `words`, from the end of that word on.
pub fn first_with(said: &str, words: &[&str]) -> Option<String> {
    said.lines().find_map(|line| behind(line, words))
}

/// Whether the last line with one of `words` comes after the last one with `other`.
pub(crate) fn is_last(said: &str, words: &[&str], other: &str) -> bool {
    let mut lines = said.lines().rev();
    lines.find_map(|line| {
        let is_one = words.iter().any(|word| line.contains(word));
        (is_one || line.contains(other)).then_some(is_one)
    }) == Some(true)
}

pub fn last_with(said: &str, words: &[&str]) -> Option<String> {
    said.lines().rev().find_map(|line| behind(line, words))
}

fn behind(line: &str, words: &[&str]) -> Option<String> {
    let message = words.iter().find_map(|word| line.split_once(word))?.1;
    Some(message.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn earlier_log_lines_are_not_reported() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("server.log");
        fs::write(&path, "1 FATAL:  of yesterday\n").unwrap();
        let log = Log::from_now(&path).unwrap();
        assert_eq!(last_with(&log.said(), &["FATAL:"]), None);
        let mut file = log.append().unwrap();
        writeln!(file, "2 FATAL:  out of memory\n2 LOG:  it ends\n2 PANIC: no FATAL: disk").unwrap();
        let said = log.said();
        assert_eq!(first_with(&said, &["FATAL:", "PANIC:"]).as_deref(), Some("out of memory"));
        assert_eq!(last_with(&said, &["PANIC:", "FATAL:"]).as_deref(), Some("no FATAL: disk"));
        assert_eq!(last_with(&said, &[""]).as_deref(), Some("2 PANIC: no FATAL: disk"));
    }

    #[test]
    fn a_large_log_is_started_again() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("server.log");
        fs::write(&path, vec![b'x'; LARGEST as usize + 1]).unwrap();
        writeln!(Log::from_now(&path).unwrap().append().unwrap(), "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new\n");
        assert!(path.with_extension("log.old").exists());
    }
}
