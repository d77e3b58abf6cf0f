//! A folder that several hosts share as a place where ranks meet: a file for each row, put in place whole. Its clock is that
//! of whoever keeps the files, as a file that was just written tells it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mindful_core::meeting::{KEPT, Meeting, Row, Seen};
use mindful_core::{Error, Result};
use rustix::fs::OFlags;

/// Longest file that is read.
const LONGEST: u64 = 64 << 20;

/// The folder.
#[derive(Debug)]
pub struct SharedFolder {
    path: PathBuf,
    /// Names files that nobody else writes.
    own: String,
    written: AtomicU64,
}

impl SharedFolder {
    /// The folder at `path`, made where it is missing.
    ///
    /// # Errors
    /// It cannot be written, or others than its owner's group may write there.
    pub fn open(path: &Path) -> Result<Self> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| cannot(path, &error))?;
        let facts = fs::metadata(path).map_err(|error| cannot(path, &error))?;
        if facts.mode() & 0o002 != 0 {
            return Err(Error::plan(
                format!("everybody may write to {}", path.display()),
                "give --meet dir:PATH of a folder that only the ranks' user can write",
            ));
        }
        let own = format!("{}-{}", rustix::system::uname().nodename().to_string_lossy(), std::process::id());
        let folder = Self { path: path.to_owned(), own, written: AtomicU64::new(0) };
        folder.now_us().map(|_| folder)
    }

    fn job(&self, job: &str) -> PathBuf {
        self.path.join(job)
    }

    fn row(&self, job: &str, rank: u32) -> PathBuf {
        self.job(job).join(format!("rank-{rank}"))
    }

    fn chunk(&self, job: &str, rank: u32, chunk: u32) -> PathBuf {
        self.job(job).join(format!("part-{rank}-{chunk}"))
    }

    /// A file of a name of its own in `folder` with this content.
    fn write_apart(&self, folder: &Path, content: &[u8]) -> std::io::Result<(PathBuf, File)> {
        let number = self.written.fetch_add(1, Ordering::SeqCst);
        let path = folder.join(format!(".{}-{number}", self.own));
        let _ = fs::remove_file(&path);
        let mut file = options().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content)?;
        Ok((path, file))
    }

    /// Puts a file in the place of `path`, whole or not at all.
    fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let folder = path.parent().unwrap_or(&self.path);
        let replaced = self.write_apart(folder, content).and_then(|(apart, _)| fs::rename(apart, path));
        replaced.map_err(|error| cannot(path, &error))
    }

    /// The row in a file; `None` where there is no such file, or not yet whole.
    fn read(path: &Path, rank: u32, now_us: i64) -> Result<Option<Seen>> {
        let Some(bytes) = read(path)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once('\n') else { return Ok(None) };
        let Some((expires_us, token)) = head.split_once(' ') else { return Ok(None) };
        let expired = expires_us.parse::<i64>().is_ok_and(|at| at < now_us);
        Ok(Some(Seen { row: Row { rank, token: token.to_owned(), body: body.to_owned() }, expired }))
    }

    /// Removes jobs in whose folders nothing was written for [`KEPT`].
    fn tidy(&self, now_us: i64) {
        let Ok(jobs) = fs::read_dir(&self.path) else { return };
        for job in jobs.flatten() {
            let old = job
                .metadata()
                .is_ok_and(|facts| facts.is_dir() && now_us - (facts.mtime() * 1_000_000) > KEPT.as_micros() as i64);
            let ours = fs::read_dir(job.path()).is_ok_and(|files| {
                files.flatten().all(|file| {
                    let name = file.file_name();
                    ["rank-", "part-", "."].iter().any(|start| name.to_string_lossy().starts_with(start))
                })
            });
            if old && ours {
                let _ = fs::remove_dir_all(job.path());
            }
        }
    }
}

/// No link is followed, nothing is waited for.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    options
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let opened = options().read(true).open(path).and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    match opened {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(cannot(path, &error)),
    }
}

fn cannot(path: &Path, error: &std::io::Error) -> Error {
    Error::target(
        format!("ranks cannot meet in {}: {error}", path.display()),
        "look at its rights and its room, or give another --meet dir:PATH",
    )
}

fn text(row: &Row, expires_us: i64) -> Vec<u8> {
    format!("{expires_us} {}\n{}", row.token, row.body).into_bytes()
}

impl Meeting for SharedFolder {
    fn place(&self) -> String {
        format!("folder {}", self.path.display())
    }

    fn now_us(&self) -> Result<i64> {
        let reported = self.write_apart(&self.path, b"").and_then(|(path, file)| {
            let facts = file.metadata();
            fs::remove_file(path)?;
            facts
        });
        reported
            .map(|facts| facts.mtime() * 1_000_000 + facts.mtime_nsec() / 1_000)
            .map_err(|error| cannot(&self.path, &error))
    }

    /// Files bear the time of the kernel's last tick: 10 ms where it ticks slowest.
    fn precision_us(&self) -> i64 {
        10_000
    }

    fn join(&self, job: &str, row: &Row, lease: Duration) -> Result<Option<Row>> {
        let (now_us, place) = (self.now_us()?, self.row(job, row.rank));
        self.tidy(now_us);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.job(job));
        made.map_err(|error| cannot(&place, &error))?;
        let content = text(row, now_us + lease.as_micros() as i64);
        let apart = self.write_apart(&self.job(job), &content).map_err(|error| cannot(&place, &error))?.0;
        let linked = fs::hard_link(&apart, &place);
        let _ = fs::remove_file(apart);
        match linked {
            Ok(()) => Ok(None),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => match Self::read(&place, row.rank, now_us)? {
                Some(held) if !held.expired && held.row.token != row.token => Ok(Some(held.row)),
                _ => self.replace(&place, &content).map(|()| None),
            },
            Err(error) => Err(cannot(&place, &error)),
        }
    }

    fn post(&self, job: &str, row: &Row, lease: Duration) -> Result<bool> {
        let (now_us, place) = (self.now_us()?, self.row(job, row.rank));
        let own = Self::read(&place, row.rank, now_us)?.is_some_and(|held| held.row.token == row.token);
        if own {
            self.replace(&place, &text(row, now_us + lease.as_micros() as i64))?;
        }
        Ok(own)
    }

    fn look(&self, job: &str) -> Result<Vec<Seen>> {
        let (now_us, folder) = (self.now_us()?, self.job(job));
        let names = match fs::read_dir(&folder) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(cannot(&folder, &error)),
        };
        let ranks = names.flatten().filter_map(|name| name.file_name().to_str()?.strip_prefix("rank-")?.parse().ok());
        let mut ranks: Vec<u32> = ranks.collect();
        ranks.sort_unstable();
        let seen = ranks.into_iter().map(|rank| Self::read(&self.row(job, rank), rank, now_us));
        seen.filter_map(Result::transpose).collect()
    }

    fn look_at(&self, job: &str, rank: u32) -> Result<Option<Seen>> {
        Self::read(&self.row(job, rank), rank, self.now_us()?)
    }

    fn send(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.replace(&self.chunk(job, rank, chunk), bytes)
    }

    fn take(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        read(&self.chunk(job, rank, chunk))
    }

    fn clear(&self, job: &str, rank: Option<u32>) -> Result<()> {
        let folder = self.job(job);
        let Ok(names) = fs::read_dir(&folder) else { return Ok(()) };
        for name in names.flatten() {
            let file = name.file_name().to_string_lossy().into_owned();
            let of_rank = |rank: u32| file == format!("rank-{rank}") || file.starts_with(&format!("part-{rank}-"));
            let ours = ["rank-", "part-"].iter().any(|start| file.starts_with(start));
            if rank.map_or(ours || file.starts_with('.'), of_rank) {
                let _ = fs::remove_file(name.path());
            }
        }
        // What holds files of others, or of a rank that is still there, stays.
        let _ = fs::remove_dir(folder);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_a_place_to_meet() {
        let folder = tempfile::tempdir().unwrap();
        let meeting = SharedFolder::open(&folder.path().join("a/b")).unwrap();
        mindful_conformance::meeting::rows_and_chunks_are_kept_apart(&meeting, &std::thread::sleep);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_folder_that_everybody_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = SharedFolder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("everybody may write") && error.contains("--meet"), "{error}");
    }
}
