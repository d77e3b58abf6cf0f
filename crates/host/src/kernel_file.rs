//! Files the kernel makes up when they are read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mindful_core::{Error, Result};
use rustix::fs::OFlags;

/// The mount points of `proc` and `sysfs`; tests replace them by their own trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    pub proc: PathBuf,
    pub sys: PathBuf,
}

impl Default for Kernel {
    fn default() -> Self {
        Self { proc: PathBuf::from("/proc"), sys: PathBuf::from("/sys") }
    }
}

/// Longest text of a file that is read at once, bytes: `/proc/cpuinfo` of thousands of CPUs.
const LONGEST: u64 = 16 << 20;

/// Opens an expected regular file for reading. A pipe in its place may have no writer and must not be awaited.
pub fn opened(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// A file of `/proc` or `/sys` that is kept open and read again and again from its start, in one go.
#[derive(Debug)]
pub struct KernelFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl KernelFile {
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = opened(&path)?;
        Ok(Self { path, file, buffer: vec![0; 16 << 10] })
    }

    /// Its present text. The buffer grows until one read holds all of it, so that the text is one acquisition.
    pub fn text(&mut self) -> io::Result<&str> {
        loop {
            let length = read_all(&self.file, &mut self.buffer)?;
            if length < self.buffer.len() {
                return std::str::from_utf8(&self.buffer[..length])
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    pub fn read(&mut self) -> Result<&str> {
        let path = self.path.clone();
        self.text().map_err(|error| unreadable(&path, &error))
    }
}

/// Fills the buffer from the start of the file; returns the number of bytes.
fn read_all(file: &File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// The text of a small file that the kernel returns in one piece, so one read has all of it.
pub fn record<'a>(path: &Path, buffer: &'a mut [u8]) -> io::Result<Cow<'a, str>> {
    let length = opened(path)?.read(buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]))
}

/// The text of a one-value file of `/sys` or `/proc`, trimmed; `None` if it is unreadable or empty.
pub fn value(path: impl AsRef<Path>) -> Option<String> {
    let mut text = String::new();
    opened(path.as_ref()).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    let text = text.trim().trim_end_matches('\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// The numbers of a text "a name, a number, a line each" by name; a colon after the name and a unit after the number are
/// left out.
pub fn named_values(text: &str) -> BTreeMap<&str, u64> {
    let pairs = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.trim_end_matches(':');
        Some((name, words.next()?.parse().ok()?))
    });
    pairs.collect()
}

pub fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::run(format!("cannot read {} ({error})", path.display()), "check its permissions, then run again")
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    #[test]
    fn a_pipe_or_a_device_in_place_of_a_file_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(value(&pipe), None);
        assert!(record(&pipe, &mut [0; 16]).is_ok_and(|text| text.is_empty()));
        assert!(KernelFile::open(&pipe).is_ok_and(|mut file| file.text().is_err()));
        assert_eq!(value("/dev/zero"), None);
    }

    #[test]
    fn both_forms_of_line_are_read() {
        let values =
            named_values("pgpgin 1789041\nMemTotal:       24684084 kB\nHugePages_Total:       0\ntorn\nx -1\n");
        assert_eq!(
            values.into_iter().collect::<Vec<_>>(),
            [("HugePages_Total", 0), ("MemTotal", 24_684_084), ("pgpgin", 1_789_041)]
        );
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("([a-z]+|:| |[0-9]+|\\PC|\n){0,60}", |text| named_values(text).len());
    }
}
