//! Making files: created with their mark, then filled to the last byte, so that no read meets a hole.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::{Error, Result, contract::clock, plan::units, workload::draw};
use mindful_host::{named_path, space};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::access_pattern::Layout;
use crate::buffer::Buffer;
use crate::content;
use crate::file_header::{DATA_START, FileHeader, HEADER_BYTES};
use crate::guard::{Access, Source, cannot};
use crate::space::Space;

/// Bytes written at a time.
const CHUNK: u64 = 4 << 20;

/// Bytes after which progress is made durable, so that an interrupted fill continues there.
const CHECKPOINT: u64 = 256 << 20;

/// All sizes are rounded up to this, so that any stripe or large read fits.
const GRAIN: u64 = 1 << 20;

const RIGHTS: &str = "check its owner and permissions";

/// The marks of new files for `plan`, alike but for their number; inodes are not known yet.
pub(crate) fn marks(plan: &DatasetPlan, block_bytes: u64, parts: usize) -> Result<Vec<FileHeader>> {
    if plan.content != Content::INCOMPRESSIBLE {
        return Err(Error::plan(
            "raw files are filled with incompressible data only",
            "omit --content, --compress-ratio and --dedupe-ratio",
        ));
    }
    if plan.scan_blocks > 0 {
        return Err(Error::plan("raw has no scan tables", "omit --scan-table; --large-iodepth adds large reads"));
    }
    let too_large = || Error::plan("the dataset is larger than any file can be", "pass a smaller --scale");
    let total = u64::from(plan.schemas).checked_mul(plan.blocks_per_schema).and_then(|b| b.checked_mul(block_bytes));
    let total = total.filter(|bytes| *bytes < 1 << 60).ok_or_else(too_large)?;
    let data_bytes = total.div_ceil(parts as u64).next_multiple_of(GRAIN.max(block_bytes));
    let set = draw::mix64(clock::now_us().unsigned_abs() ^ u64::from(std::process::id()) << 40);
    let mark = |part| FileHeader {
        set,
        part,
        parts: parts as u64,
        seed: plan.seed,
        schemas: u64::from(plan.schemas),
        blocks_per_schema: plan.blocks_per_schema,
        block_bytes,
        data_bytes,
        filled_bytes: 0,
        inode: 0,
    };
    Ok((0..parts as u64).map(mark).collect())
}

/// Refuses files, each with the bytes it still needs, that their file systems have no room for, with both figures.
pub(crate) fn check_room(files: &[(PathBuf, u64)]) -> Result<()> {
    let mut wanted: Vec<(u64, u64, PathBuf)> = Vec::new();
    for (path, bytes) in files {
        let folder = folder(path)?;
        let device = rustix::fs::stat(&folder).map_err(|e| cannot("examine", &folder, e, RIGHTS))?.st_dev;
        match wanted.iter_mut().find(|(id, ..)| *id == device) {
            Some((_, sum, _)) => *sum += bytes,
            None => wanted.push((device, *bytes, folder)),
        }
    }
    for (_, bytes, folder) in wanted {
        space::require("the load", &folder, bytes, "pass a smaller --scale or --schemas, or another path")?;
    }
    Ok(())
}

fn folder(path: &Path) -> Result<PathBuf> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::canonicalize(parent).map_err(|e| cannot("find the folder", parent, e, "make it first"))
}

/// Creates `path`, which must not exist, with `mark` in it and nothing else yet.
pub(crate) fn create(path: &Path, mut mark: FileHeader) -> Result<()> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = |path: &Path| Ok(rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR)?);
    let fd = named_path::in_folder_of(path, opened).map_err(|e| cannot("make", path, e, RIGHTS))?;
    mark.inode = rustix::fs::fstat(&fd).map_err(|e| cannot("examine", path, e, RIGHTS))?.st_ino;
    write_header(&fd, &mark).map_err(|errno| {
        // Without its mark it would be a stranger to the next run.
        let _ = fs::remove_file(path);
        write_failed(path, errno)
    })
}

/// Enlarges the file of `source` for more schemas: its mark becomes that of a half-filled file.
pub(crate) fn grow(source: &mut Source, mark: FileHeader, wanted: &FileHeader) -> Result<()> {
    let data_bytes = wanted.data_bytes.max(mark.data_bytes);
    let grown = FileHeader { schemas: wanted.schemas, data_bytes, ..mark };
    let fd = source.writer(Access { direct: false, sync: false }, &[])?;
    let written = write_header(&fd, &grown).and_then(|()| rustix::fs::fsync(&fd));
    written.map_err(|errno| write_failed(&source.path, errno))?;
    source.mark = Some(grown);
    Ok(())
}

/// Fills the rest of the marked file of `source`. `done` and `of` are bytes of all files.
pub(crate) fn fill(
    source: &Source,
    destroy_data: &[String],
    events: &dyn Events,
    stop: &StopFlag,
    done: &mut u64,
    of: u64,
) -> Result<()> {
    let Some(mut mark) = source.mark else {
        return Err(Error::target(format!("{} was not made by mindful", source.path.display()), "name another path"));
    };
    let buffered = source.writer(Access { direct: false, sync: false }, destroy_data)?;
    let direct = source.beside(&buffered, Access { direct: true, sync: false });
    let data = direct.as_ref().unwrap_or(&buffered);
    let fail = |errno| write_failed(&source.path, errno);
    match rustix::fs::fallocate(&buffered, FallocateFlags::empty(), 0, mark.file_bytes()) {
        // Where space cannot be reserved it is found missing by the writes.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        Err(errno) => return Err(fail(errno)),
    }
    let mut buffer = Buffer::new(CHUNK as usize)
        .map_err(|e| Error::target(format!("no memory to fill files from: {e}"), "free some memory"))?;
    *done += mark.filled_bytes;
    let mut at = mark.filled_bytes;
    while at < mark.data_bytes {
        stop.refuse(&format!("the fill of {} was stopped", source.path.display()))?;
        let bytes = CHUNK.min(mark.data_bytes - at);
        let chunk = &mut buffer.bytes_mut()[..bytes as usize];
        content::fill(chunk, mark.content_key(), DATA_START + at, 0);
        write_all(data, chunk, DATA_START + at).map_err(fail)?;
        at += bytes;
        *done += bytes;
        events.emit(Event::Progress { what: "loading".to_owned(), done: *done, of, unit: "bytes".to_owned() });
        if at % CHECKPOINT == 0 || at == mark.data_bytes {
            rustix::fs::fdatasync(data).map_err(fail)?;
            mark.filled_bytes = at;
            write_header(&buffered, &mark).map_err(fail)?;
        }
    }
    rustix::fs::fsync(&buffered).map_err(fail)
}

/// Marks the devices of `sources` for filling, which destroys their data. Nothing is written unless all may be written
/// and are large enough.
pub(crate) fn begin_devices(sources: &[Source], marks: &[FileHeader], destroy_data: &[String]) -> Result<()> {
    let claim = |(source, mark): (&Source, &FileHeader)| {
        let claimed = source.writer(Access { direct: false, sync: false }, destroy_data)?;
        let held = rustix::fs::seek(&claimed, rustix::fs::SeekFrom::End(0))
            .map_err(|e| cannot("measure", &source.path, e, RIGHTS))?;
        if held < mark.file_bytes() {
            let (bytes, held) = (units::format_bytes(mark.file_bytes()), units::format_bytes(held));
            return Err(Error::target(
                format!("{bytes} of data and mark do not fit onto {}, which has {held}", source.path.display()),
                "pass a smaller --scale or --schemas, or another device",
            ));
        }
        Ok(claimed)
    };
    let claimed = sources.iter().zip(marks).map(claim).collect::<Result<Vec<_>>>()?;
    for ((source, mark), fd) in sources.iter().zip(marks).zip(&claimed) {
        let inode = source.device.unwrap_or_default();
        let written = write_header(fd, &FileHeader { inode, ..*mark }).and_then(|()| rustix::fs::fsync(fd));
        written.map_err(|errno| write_failed(&source.path, errno))?;
    }
    Ok(())
}

fn write_header(fd: &OwnedFd, mark: &FileHeader) -> rustix::io::Result<()> {
    let header: [u8; HEADER_BYTES] = mark.encode();
    write_all(fd, &header, 0)
}

fn write_all(fd: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> rustix::io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::pwrite(fd, bytes, offset) {
            Ok(0) => return Err(Errno::NOSPC),
            Ok(written) => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn write_failed(path: &Path, errno: Errno) -> Error {
    let next = match errno {
        Errno::NOSPC | Errno::DQUOT => "free some space, or pass a smaller --scale; `cleanup` removes what was written",
        Errno::FBIG => "the file system has no files this long: name several paths, or pass a smaller --scale",
        _ => "see the kernel log",
    };
    Error::run(format!("cannot write {}: {}", path.display(), io::Error::from(errno)), next)
}

/// Removes the file of `source` if its path still leads to that very file and it carries the mark.
pub(crate) fn remove(source: &Source) -> Result<()> {
    let own = rustix::fs::fstat(&source.fd).map_err(|e| cannot("examine", &source.path, e, RIGHTS))?;
    let named = rustix::fs::lstat(&source.path).map_err(|e| cannot("examine", &source.path, e, RIGHTS))?;
    if source.mark.is_none() || (own.st_dev, own.st_ino) != (named.st_dev, named.st_ino) {
        return Err(Error::target(format!("{} is not the file that was examined", source.path.display()), "try again"));
    }
    fs::remove_file(&source.path).map_err(|e| cannot("remove", &source.path, e, "check its folder's permissions"))
}

/// For each schema, the number of keys with a separate block of the right content.
pub(crate) fn good_blocks(
    sources: &[Source],
    space: &Space,
    layout: &Layout,
    access: Access,
    stop: &StopFlag,
) -> Result<Vec<u64>> {
    let mut buffer = Buffer::new(space.unit() as usize)
        .map_err(|e| Error::target(format!("no memory for a block: {e}"), "pass a smaller --block-size"))?;
    let files = sources.iter().map(|source| source.reader(access)).collect::<Result<Vec<OwnedFd>>>()?;
    let mut is_good = |block: u64| {
        stop.refuse("the proof was stopped")?;
        let place = space.place(block);
        let (source, file) = (&sources[place.file as usize], &files[place.file as usize]);
        let read = rustix::io::pread(file, buffer.bytes_mut(), place.offset).map_err(|e| {
            let what = format!("cannot read {} at {}: {e}", source.path.display(), place.offset);
            Error::run(what, "see the kernel log")
        })?;
        let bytes = &buffer.bytes()[..read];
        let key = source.mark.map_or(0, |mark| mark.content_key());
        Ok(read == buffer.len() && content::first_mismatch(bytes, key, place.offset).is_none())
    };
    let blocks = layout.blocks_per_schema();
    let good = |schema: u32| {
        let first = u64::from(schema) * blocks;
        (first..first + blocks).try_fold(0, |good, block| Ok(good + u64::from(is_good(block)?)))
    };
    (0..layout.schemas()).map(good).collect()
}
