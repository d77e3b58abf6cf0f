//! Files the kernel makes up when they are read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use mindful_core::{Error, Result};

/// A file of `/proc` or `/sys` that is kept open and read again and again from its start, in one go.
#[derive(Debug)]
pub(crate) struct ProcFile {
    path: PathBuf,
    file: File,
    buffer: Vec<u8>,
}

impl ProcFile {
    pub(crate) fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = File::open(&path)?;
        Ok(Self { path, file, buffer: vec![0; 16 << 10] })
    }

    /// Its present text. The buffer grows until one read holds all of it, so that the text is one acquisition.
    pub(crate) fn text(&mut self) -> io::Result<&str> {
        loop {
            let length = read_all(&self.file, &mut self.buffer)?;
            if length < self.buffer.len() {
                return std::str::from_utf8(&self.buffer[..length])
                    .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error));
            }
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
    }

    /// The same with an error that names the file.
    pub(crate) fn read(&mut self) -> Result<&str> {
        let path = self.path.clone();
        self.text().map_err(|error| unreadable(&path, &error))
    }
}

/// Fills the buffer from the start of the file; returns how much there was.
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

/// The text of a small file whose content the kernel gives in one piece, so that one read holds all of it.
pub(crate) fn record<'a>(path: &Path, buffer: &'a mut [u8]) -> io::Result<Cow<'a, str>> {
    let length = File::open(path)?.read(buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..length]))
}

/// The text of a one-value file of `/sys` or `/proc`, trimmed; `None` when it is not to be had or empty.
pub(crate) fn value(path: impl AsRef<Path>) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let text = text.trim().trim_end_matches('\0');
    (!text.is_empty()).then(|| text.to_owned())
}

/// An error for a file that was readable before.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::run(format!("cannot read {} ({error})", path.display()), "check its rights, then run again")
}
