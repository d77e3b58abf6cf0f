//! What the server said, for messages.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use mindful_instance::files::{open_file, own_file};

/// A log begins anew beyond this size; one older is kept.
const LARGEST: u64 = 4 << 20;

/// The log of the server from some point on.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    from: u64,
}

impl Log {
    /// The log from now on.
    pub fn from_now(path: &Path) -> io::Result<Self> {
        let mut from = fs::metadata(path).map_or(0, |meta| meta.len());
        if from > LARGEST {
            fs::rename(path, path.with_extension("log.old"))?;
            from = 0;
        }
        Ok(Self { path: path.to_owned(), from })
    }

    /// To write to.
    pub fn append(&self) -> io::Result<File> {
        own_file(&self.path)?;
        OpenOptions::new().append(true).open(&self.path)
    }

    /// The line that tells best why the server did not do what it should: the last fatal one, else the last error, else
    /// the last of all; without its time and process.
    pub fn complaint(&self) -> Option<String> {
        let text = self.text().ok()?;
        let last = |wanted: &[&str]| {
            text.lines().rev().find(|line| wanted.iter().any(|word| line.contains(word))).map(str::to_owned)
        };
        let line = last(&["FATAL:", "PANIC:"]).or_else(|| last(&["ERROR:", "error:"])).or_else(|| last(&[""]))?;
        let message = ["FATAL:", "PANIC:", "ERROR:", "error:"].iter().find_map(|word| line.split_once(word));
        Some(message.map_or(line.as_str(), |(_, message)| message).trim().to_owned())
    }

    /// The path, to send a reader to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn text(&self) -> io::Result<String> {
        let mut file = open_file(&self.path)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_fatal_line_is_told_without_what_was_there_before() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("server.log");
        fs::write(&path, "2026-01-01 [1] FATAL:  of yesterday\n").unwrap();
        let log = Log::from_now(&path).unwrap();
        assert_eq!(log.complaint(), None);
        let mut file = log.append().unwrap();
        writeln!(file, "2026-01-02 [2] FATAL:  out of memory\n2026-01-02 [2] LOG:  database system is shut down")
            .unwrap();
        assert_eq!(log.complaint().as_deref(), Some("out of memory"));
    }
}
