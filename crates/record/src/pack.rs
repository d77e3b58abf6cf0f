//! A run as one file: a tar of its record, its figures and the files derived from them, compressed with zstd.
//!
//! A pack may come from anywhere. Each name in it is one of ours, occurs once, is below one folder with the name of a
//! run, and is a regular file: no link can be followed, and no path leads out of the folder.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use ruzstd::decoding::StreamingDecoder;
use ruzstd::encoding::{CompressionLevel, compress};
use tar::{Archive, EntryType, Header};

use crate::file;
use crate::name::{LOG, SUMMARY, is_id};

pub const PAGE: &str = "page.html";
pub const PLAN: &str = "plan.toml";
/// Host, target and dataset.
pub const ENVIRONMENT: &str = "environment.json";
/// Version of the mindful that measured, and of the one that packed.
pub const VERSION: &str = "VERSION";

const NAMES: [&str; 6] = [LOG, SUMMARY, PAGE, PLAN, ENVIRONMENT, VERSION];
/// Start of a zstd frame.
const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const ALWAYS: u64 = 64 << 20;
/// Bytes beyond that by a byte of the pack: records shrink to a tenth or twentieth.
const MOST_RATIO: u64 = 200;

const BLOCK: usize = 512;

pub fn is_pack(path: &Path) -> bool {
    let mut begin = [0; 4];
    file::open(path).and_then(|mut file| file.read_exact(&mut begin)).is_ok() && begin == MAGIC
}

/// Packs the record in the folder `run` of `id`, and texts by their names, into `to`. A record among the texts replaces
/// the folder's record.
pub fn write(run: &Path, id: &str, texts: &[(&str, String)], to: &File) -> io::Result<()> {
    let mut whole: Box<dyn Read> = Box::new(io::empty());
    if !texts.iter().any(|(name, _)| *name == LOG) {
        let from = file::open_itself(&run.join(LOG))?;
        let bytes = from.metadata()?.len();
        whole = Box::new(whole.chain(entry(id, LOG, bytes, Box::new(from.take(bytes)))?));
    }
    for (name, text) in texts {
        let text = io::Cursor::new(text.clone().into_bytes());
        whole = Box::new(whole.chain(entry(id, name, text.get_ref().len() as u64, Box::new(text))?));
    }
    // Two empty blocks end a tar.
    let mut to = io::BufWriter::new(to);
    let fault = RefCell::new(None);
    let tar = Faultless { inner: whole.chain(io::repeat(0).take(2 * BLOCK as u64)), fault: &fault };
    compress(tar, Faultless { inner: &mut to, fault: &fault }, CompressionLevel::Fastest);
    fault.into_inner().map_or(Ok(()), Err)?;
    to.flush()?;
    to.get_ref().sync_all()
}

/// Keeps the first error for later, because its caller does not expect one: afterwards reads return nothing, and writes
/// are dropped.
struct Faultless<'a, T> {
    inner: T,
    fault: &'a RefCell<Option<io::Error>>,
}

impl<T> Faultless<'_, T> {
    fn tried(&mut self, otherwise: usize, act: impl FnOnce(&mut T) -> io::Result<usize>) -> io::Result<usize> {
        if self.fault.borrow().is_some() {
            return Ok(otherwise);
        }
        match act(&mut self.inner) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                *self.fault.borrow_mut() = Some(error);
                Ok(otherwise)
            }
            done => done,
        }
    }
}

impl<T: Read> Read for Faultless<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.tried(0, |inner| inner.read(bytes))
    }
}

impl<T: Write> Write for Faultless<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.tried(bytes.len(), |inner| inner.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tried(0, |inner| inner.flush().map(|()| 0)).map(|_| ())
    }
}

/// A file of the tar: its header, its content, and zeros up to the next block.
fn entry(id: &str, name: &str, bytes: u64, content: Box<dyn Read>) -> io::Result<Box<dyn Read>> {
    let mut header = Header::new_ustar();
    header.set_path(format!("{id}/{name}"))?;
    header.set_size(bytes);
    header.set_mode(0o600);
    header.set_entry_type(EntryType::Regular);
    header.set_cksum();
    let rest = bytes.next_multiple_of(BLOCK as u64) - bytes;
    Ok(Box::new(io::Cursor::new(*header.as_bytes()).chain(content).chain(io::repeat(0).take(rest))))
}

/// Unpacks the pack `path` into the empty folder `into`; returns the id that it is packed under. The error is a short reason.
pub fn unpack(path: &Path, into: &Path) -> Result<String, String> {
    let text = |error: io::Error| reason(&error);
    let packed = file::open(path).map_err(text)?;
    let most = packed.metadata().map_err(text)?.len().saturating_mul(MOST_RATIO).saturating_add(ALWAYS);
    let unpacked =
        StreamingDecoder::new(io::BufReader::new(packed)).map_err(|error| reason(&io::Error::other(error)))?;
    let mut tar = Archive::new(Bounded { from: unpacked, left: most, most });
    let (mut seen, mut folder) = (BTreeSet::new(), None);
    // Raw: an extended header is an entry like another, and refused.
    for entry in tar.entries().map_err(text)?.raw(true) {
        let mut entry = entry.map_err(text)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let known = name.split_once('/').and_then(|(id, file)| Some((id, *NAMES.iter().find(|name| **name == file)?)));
        let Some((id, file)) = known.filter(|(id, _)| is_id(id)) else {
            return Err(format!("it contains {name:?}, which is not a file of a pack"));
        };
        if entry.header().entry_type() != EntryType::Regular {
            return Err(format!("{name:?} is not a regular file"));
        }
        if *folder.get_or_insert_with(|| id.to_owned()) != id || !seen.insert(file) {
            return Err(format!("{name:?} belongs to another run in it, or is in it twice"));
        }
        let mut to = file::create_new(&into.join(file)).map_err(text)?;
        io::copy(&mut entry, &mut to).map_err(text)?;
    }
    folder.filter(|_| seen.contains(LOG)).ok_or_else(|| format!("no {LOG} is in it"))
}

/// The defect of a pack, in terms of the user and not of the unpacking.
fn reason(error: &io::Error) -> String {
    let mut causes = std::iter::successors(Some(error as &(dyn std::error::Error + 'static)), |error| error.source());
    // An error of the system is also the cause of some other.
    let is_cut = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::UnexpectedEof)
    };
    match error.kind() {
        _ if error.raw_os_error().is_some() => error.to_string(),
        io::ErrorKind::FileTooLarge => error.to_string(),
        _ if causes.any(is_cut) => "it was cut: its end is missing".to_owned(),
        _ => "it is damaged".to_owned(),
    }
}

struct Bounded<R> {
    from: R,
    left: u64,
    most: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| {
            io::Error::new(io::ErrorKind::FileTooLarge, format!("it unpacks to more than {} bytes", self.most))
        })?;
        Ok(read)
    }
}

/// A folder that is removed on drop.
pub(crate) struct Passing<'a>(pub &'a Path);

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(self.0);
    }
}
