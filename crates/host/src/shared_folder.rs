//! A folder that several hosts share as the rendezvous of ranks: a file for each row, replaced atomically. Its clock is
//! the file server's: the time of a file that was just written.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mindful_core::plan::rights::Rights;
use mindful_core::ranks::rendezvous::{PeerRow, RETENTION, RankRow, Rendezvous, is_lease_over};
use mindful_core::{Error, Result};
use rustix::fs::OFlags;

use crate::named_path;

const LONGEST: u64 = 64 << 20;
/// Prefix of the folder of a job: other files in the place may belong to others.
const JOB: &str = "mindful-job-";
/// Prefixes of files in a job's folder: rows, parts, and incomplete files.
const OURS: [&str; 3] = ["rank-", "part-", APART];
const APART: &str = ".mindful-";
/// A probe that is there for longer than this is of a process that was killed.
const PROBED: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct SharedFolder {
    path: PathBuf,
    /// The user that this process writes as: the file server may map root to another user.
    user: u32,
    /// Names files that no other process writes.
    own: String,
    written: AtomicU64,
}

impl SharedFolder {
    /// The folder at `path`, made if it is missing.
    ///
    /// # Errors
    /// It cannot be written, is another user's, or others than its owner's group may write there.
    pub fn open(path: &Path) -> Result<Self> {
        let path = &named_path::folder(path).map_err(|error| cannot(path, &error))?;
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.map_err(|error| cannot(path, &error))?;
        let own = format!("{}-{}", rustix::system::uname().nodename().to_string_lossy(), std::process::id());
        let mut folder = Self { path: path.to_owned(), user: 0, own, written: AtomicU64::new(0) };
        folder.user = folder.probe().map_err(|error| cannot(path, &error))?.uid();
        let facts = fs::metadata(path).map_err(|error| cannot(path, &error))?;
        let refused = |what: String| {
            Err(Error::plan(what, "pass --meet dir:PATH of a folder that only the ranks' user can write"))
        };
        let rights = Rights::from_metadata(&facts);
        if rights.everybody_writes() {
            return refused(format!("all users can write to {}", path.display()));
        }
        if !rights.belongs_to(folder.user) {
            return refused(format!("{} belongs to another user, and that user may replace its files", path.display()));
        }
        Ok(folder)
    }

    fn job(&self, job: &str) -> PathBuf {
        self.path.join(format!("{JOB}{job}"))
    }

    /// The metadata of a file that was just written in the place and is removed again.
    fn probe(&self) -> std::io::Result<fs::Metadata> {
        let (path, file) = self.write_apart(&self.path, b"")?;
        let facts = file.metadata();
        match fs::remove_file(path) {
            // Another rank took this process, which stood still, for dead.
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => facts,
        }
    }

    /// Accepts only a folder of our own: a link would lead elsewhere.
    fn check(&self, job: &Path) -> std::io::Result<()> {
        let facts = fs::symlink_metadata(job)?;
        if facts.is_dir() && facts.uid() == self.user {
            return Ok(());
        }
        Err(std::io::Error::new(ErrorKind::PermissionDenied, format!("{} is not a folder of this user", job.display())))
    }

    fn row(&self, job: &str, rank: u32) -> PathBuf {
        self.job(job).join(format!("rank-{rank}"))
    }

    fn chunk(&self, job: &str, rank: u32, chunk: u32) -> PathBuf {
        self.job(job).join(format!("part-{rank}-{chunk}"))
    }

    /// A file of a unique name in `folder` with this content.
    fn write_apart(&self, folder: &Path, content: &[u8]) -> std::io::Result<(PathBuf, File)> {
        let number = self.written.fetch_add(1, Ordering::SeqCst);
        let path = folder.join(format!("{APART}{}-{number}", self.own));
        let _ = fs::remove_file(&path);
        let mut file = options().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(content)?;
        Ok((path, file))
    }

    /// Replaces the file `path` atomically.
    fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let folder = path.parent().unwrap_or(&self.path);
        let apart = self.check(folder).and_then(|()| self.write_apart(folder, content));
        let replaced = apart.and_then(|(apart, _)| fs::rename(apart, path));
        replaced.map_err(|error| cannot(path, &error))
    }

    /// The row in a file; `None` if the file is missing or incomplete.
    fn read(path: &Path, rank: u32, now_us: i64) -> Result<Option<PeerRow>> {
        let Some(bytes) = read(path)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once('\n') else { return Ok(None) };
        let Some((expires_us, token)) = head.split_once(' ') else { return Ok(None) };
        let expired = expires_us.parse().map_or(true, |at| is_lease_over(at, now_us));
        Ok(Some(PeerRow { row: RankRow { rank, token: token.to_owned(), body: body.to_owned() }, expired }))
    }

    /// Removes jobs with folders that were not written for [`KEPT`], and the remains of a [`Self::probe`] that was
    /// killed.
    fn tidy(&self, now_us: i64) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let (Ok(facts), name) = (entry.metadata(), entry.file_name()) else { continue };
            let name = name.to_string_lossy();
            let older = |than: Duration| now_us - facts.mtime() * 1_000_000 > than.as_micros() as i64;
            if facts.is_dir() && name.starts_with(JOB) && older(RETENTION) {
                self.remove(&entry.path(), |_| true);
            } else if facts.is_file() && facts.uid() == self.user && name.starts_with(APART) && older(PROBED) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes our files that are `meant` from a job's folder, and the folder if it is empty then.
    fn remove(&self, job: &Path, meant: impl Fn(&str) -> bool) {
        let Ok(names) = self.check(job).and_then(|()| fs::read_dir(job)) else { return };
        for name in names.flatten() {
            let file = name.file_name().to_string_lossy().into_owned();
            if OURS.iter().any(|start| file.starts_with(start)) && meant(&file) {
                let _ = fs::remove_file(name.path());
            }
        }
        // A folder with files of others, or of a rank that still exists, remains.
        let _ = fs::remove_dir(job);
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
        "check its permissions and its free space, or pass another --meet dir:PATH",
    )
}

fn text(row: &RankRow, expires_us: i64) -> Vec<u8> {
    format!("{expires_us} {}\n{}", row.token, row.body).into_bytes()
}

impl Rendezvous for SharedFolder {
    fn location(&self) -> String {
        format!("folder {}", self.path.display())
    }

    fn now_us(&self) -> Result<i64> {
        let facts = self.probe().map_err(|error| cannot(&self.path, &error))?;
        Ok(facts.mtime() * 1_000_000 + facts.mtime_nsec() / 1_000)
    }

    /// Files have the time of the kernel's last tick: 10 ms at the slowest rate.
    fn precision_us(&self) -> i64 {
        10_000
    }

    fn claim_rank(&self, job: &str, row: &RankRow, lease: Duration) -> Result<Option<RankRow>> {
        let (now_us, place) = (self.now_us()?, self.row(job, row.rank));
        self.tidy(now_us);
        let made = DirBuilder::new().recursive(true).mode(0o700).create(self.job(job));
        made.and_then(|()| self.check(&self.job(job))).map_err(|error| cannot(&place, &error))?;
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

    fn update_row(&self, job: &str, row: &RankRow, lease: Duration) -> Result<bool> {
        let (now_us, place) = (self.now_us()?, self.row(job, row.rank));
        let own = Self::read(&place, row.rank, now_us)?.is_some_and(|held| held.row.token == row.token);
        if own {
            self.replace(&place, &text(row, now_us + lease.as_micros() as i64))?;
        }
        Ok(own)
    }

    fn read_rows(&self, job: &str) -> Result<Vec<PeerRow>> {
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

    fn read_row(&self, job: &str, rank: u32) -> Result<Option<PeerRow>> {
        Self::read(&self.row(job, rank), rank, self.now_us()?)
    }

    fn write_chunk(&self, job: &str, rank: u32, chunk: u32, bytes: &[u8]) -> Result<()> {
        self.replace(&self.chunk(job, rank, chunk), bytes)
    }

    fn read_chunk(&self, job: &str, rank: u32, chunk: u32) -> Result<Option<Vec<u8>>> {
        read(&self.chunk(job, rank, chunk))
    }

    fn remove_rows(&self, job: &str, rank: Option<u32>) -> Result<()> {
        self.remove(&self.job(job), |file| {
            rank.is_none_or(|rank| file == format!("rank-{rank}") || file.starts_with(&format!("part-{rank}-")))
        });
        if let (None, Ok(now_us)) = (rank, self.now_us()) {
            self.tidy(now_us);
        }
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
        mindful_conformance::rendezvous::rows_and_chunks_are_kept_apart(&meeting, &std::thread::sleep);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).unwrap().count(), 0, "nothing is left");
    }

    /// A row of a job without processes.
    fn row() -> RankRow {
        RankRow { rank: 0, token: "t".to_owned(), body: String::new() }
    }

    #[test]
    fn files_of_others_next_to_a_job_stay() {
        let folder = tempfile::tempdir().unwrap();
        let meeting = SharedFolder::open(folder.path()).unwrap();
        let long_ago = std::time::SystemTime::UNIX_EPOCH;
        let own = ["theirs/.git", "empty", "mindful-job-old/notes"].map(|name| folder.path().join(name));
        for path in &own {
            fs::create_dir_all(path).unwrap();
        }
        let files = ["mindful-job-old/rank-0", "mindful-job-now/.env"].map(|name| folder.path().join(name));
        fs::create_dir(folder.path().join("mindful-job-now")).unwrap();
        for path in &files {
            fs::write(path, "0 t\n").unwrap();
        }
        for name in ["theirs", "empty", "mindful-job-old"] {
            File::open(folder.path().join(name)).unwrap().set_modified(long_ago).unwrap();
        }
        meeting.claim_rank("now", &row(), Duration::from_secs(9)).unwrap();
        meeting.remove_rows("now", None).unwrap();
        assert!(own.iter().all(|path| path.is_dir()), "{own:?}");
        assert_eq!(files.map(|path| path.exists()), [false, true], "a row of long ago goes, a file of others stays");
    }

    #[test]
    fn remains_of_a_killed_rank_are_removed_by_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let meeting = SharedFolder::open(folder.path()).unwrap();
        let [dead, new, theirs] = [".mindful-a-1-0", ".mindful-a-2-0", ".profile"].map(|name| folder.path().join(name));
        for (path, ago) in [(&dead, 60), (&new, 0), (&theirs, 60)] {
            let at = std::time::SystemTime::now() - Duration::from_secs(ago);
            File::create(path).unwrap().set_modified(at).unwrap();
        }
        meeting.claim_rank("now", &row(), Duration::from_secs(9)).unwrap();
        meeting.remove_rows("now", Some(0)).unwrap();
        File::create(&dead).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        meeting.remove_rows("now", None).unwrap();
        assert_eq!([dead, new, theirs].map(|path| path.exists()), [false, true, true]);
    }

    #[test]
    fn a_link_in_the_place_of_a_job_is_not_followed() {
        let (folder, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let meeting = SharedFolder::open(folder.path()).unwrap();
        fs::write(theirs.path().join(".mindful-theirs"), "").unwrap();
        std::os::unix::fs::symlink(theirs.path(), folder.path().join("mindful-job-j")).unwrap();
        assert!(meeting.claim_rank("j", &row(), Duration::from_secs(9)).is_err());
        assert!(meeting.write_chunk("j", 0, 0, b"part").is_err());
        meeting.remove_rows("j", None).unwrap();
        assert_eq!(fs::read_dir(theirs.path()).unwrap().count(), 1, "nothing is written or removed there");
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        if !rustix::process::geteuid().is_root() {
            return mindful_conformance::not_run("only root can give a folder away");
        }
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::chown(folder.path(), Some(65_534), None).unwrap();
        let error = SharedFolder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("belongs to another user") && error.contains("--meet"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_everybody_may_write_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let error = SharedFolder::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("all users can write") && error.contains("--meet"), "{error}");
    }
}
