//! Makes the PostgreSQL data directory, and knows in what state it was left.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};

use mindful_core::{Error, Result};

use super::binaries::Binaries;
use super::folder::Folder;
use mindful_instance::account::Account;
use mindful_instance::files::{hand_over, make_private, open_file, read_text};
use mindful_instance::log::{Log, last_with};

/// The superuser of the private server.
pub const USER: &str = "mindful";

/// Its database.
pub const DATABASE: &str = "mindful";

/// Segments that come and go while the server works are files of its data directory: they go with it, and nothing is left
/// in `/dev/shm` when it is killed.
pub const DYNAMIC_MEMORY: &str = "dynamic_shared_memory_type=mmap";

/// Whether `folder` holds a data directory that was made completely.
pub fn is_in(folder: &Path) -> Result<bool> {
    let version = folder.join("pgdata/PG_VERSION");
    version.try_exists().map_err(|error| {
        Error::target(format!("{}: {error}", version.display()), "start mindful as the owner of that folder")
    })
}

/// Makes the data directory if there is none, in its place completely or not at all, and checks that the binaries and
/// the user fit one that is there. Tells whether it was made.
pub fn ensure(folder: &Folder, binaries: &Binaries, account: &Account) -> Result<bool> {
    if folder.data().join("PG_VERSION").exists() {
        return check(&folder.data(), binaries, account).map(|()| false);
    }
    let new = folder.aside("new");
    let maker = &account.with_name()?;
    let failed = |error: std::io::Error| Error::target(format!("cannot make {}: {error}", new.display()), "");
    let log = Log::from_now(&folder.log()).map_err(failed)?;
    make_private(&new, maker).map_err(failed)?;
    let work = || {
        initdb(&new, binaries, maker, &log)?;
        create_database(&new, binaries, maker, &log)?;
        if maker.uid != account.uid {
            hand_over(&new, maker.uid, account).map_err(failed)?;
        }
        sync(&new, binaries, account, &log)
    };
    work().inspect_err(|_| {
        let _ = fs::remove_dir_all(&new);
    })?;
    fs::rename(&new, folder.data()).and_then(|()| folder.sync()).map_err(failed)?;
    Ok(true)
}

/// Everything is synced once at the end, after the database is there too.
fn initdb(new: &Path, binaries: &Binaries, account: &Account, log: &Log) -> Result<()> {
    let mut command = account.command(binaries.program("initdb"), new);
    command.arg("-D").arg(new).arg("--username").arg(USER).args([
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
        "--data-checksums",
        "--no-instructions",
        "--no-sync",
    ]);
    if binaries.major >= 16 {
        command.args(["-c", DYNAMIC_MEMORY]);
    }
    run(&mut command, None, log)
}

fn create_database(new: &Path, binaries: &Binaries, account: &Account, log: &Log) -> Result<()> {
    let mut command = account.command(binaries.program("postgres"), new);
    command.args(["--single", "-F", "-D"]).arg(new).args(["-c", "exit_on_error=on", "-c", DYNAMIC_MEMORY, "template1"]);
    run(&mut command, Some(&format!("CREATE DATABASE {DATABASE}\n")), log)
}

/// One call for the whole file system: on a busy disk far faster than a sync of each of a thousand small files, since
/// each of those makes the file system commit its journal.
#[cfg(target_os = "linux")]
fn sync(new: &Path, _: &Binaries, _: &Account, _: &Log) -> Result<()> {
    let synced = File::open(new).and_then(|folder| Ok(rustix::fs::syncfs(folder)?));
    synced.map_err(|error| Error::target(format!("cannot sync {}: {error}", new.display()), "check that storage"))
}

#[cfg(not(target_os = "linux"))]
fn sync(new: &Path, binaries: &Binaries, account: &Account, log: &Log) -> Result<()> {
    let mut command = account.command(binaries.program("initdb"), new);
    run(command.arg("--sync-only").arg("-D").arg(new), None, log)
}

fn run(command: &mut Command, input: Option<&str>, log: &Log) -> Result<()> {
    let name = Path::new(command.get_program()).display().to_string();
    let failed = |why: String| Error::target(format!("{name}: {why}"), format!("see {}", log.path().display()));
    let mut go = || {
        command.stdin(Stdio::piped()).stdout(log.append()?).stderr(log.append()?);
        let mut child = command.spawn()?;
        if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
            stdin.write_all(text.as_bytes())?;
        }
        child.wait()
    };
    match go().map_err(|error: std::io::Error| failed(error.to_string()))? {
        status if status.success() => Ok(()),
        status => Err(failed(complaint(&log.said()).unwrap_or_else(|| status.to_string()))),
    }
}

/// The line of a log that tells best why PostgreSQL did not do what it should: the last fatal one, else the last error,
/// else the last of all; without its time and process.
pub fn complaint(said: &str) -> Option<String> {
    [&["FATAL:", "PANIC:"][..], &["ERROR:", "error:"], &[""]].iter().find_map(|words| last_with(said, words))
}

fn check(data: &Path, binaries: &Binaries, account: &Account) -> Result<()> {
    let failed = |error: std::io::Error| Error::target(format!("{}: {error}", data.display()), "");
    if let Some(odd) = PLAIN_FILES.iter().map(|name| data.join(name)).find(|path| is_odd(path)) {
        return Err(Error::target(
            format!("{} is no plain file", odd.display()),
            "remove it, or give another --data-dir",
        ));
    }
    let version = read_text(&data.join("PG_VERSION"), 64).map_err(failed)?;
    let major = version.trim();
    if major != binaries.major.to_string() {
        return Err(Error::plan(
            format!("{} is of PostgreSQL {major}, the binaries are {}", data.display(), binaries.version),
            format!("give --pg-version {major} (or its --pg-bin), or another --data-dir"),
        ));
    }
    let owner = fs::metadata(data).map_err(failed)?.uid();
    if owner != account.uid && account.switched && owner != 0 {
        return hand_over(data, owner, account).map_err(failed);
    }
    if owner != account.uid {
        return Err(Error::plan(
            format!("{} belongs to user number {owner}, the server would run as {}", data.display(), account.name),
            "give its owner by --run-as, or another --data-dir",
        ));
    }
    Ok(())
}

/// What is read before the server runs, by mindful or by the server itself, which would wait for a pipe.
const PLAIN_FILES: [&str; 5] =
    ["PG_VERSION", "postmaster.pid", "postgresql.conf", "postgresql.auto.conf", "global/pg_control"];

fn is_odd(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file())
}

/// Whether the server of this data directory was shut down in order. `pg_control` begins with two words of versions
/// (8 and 4 and 4 bytes), then the state, of which 1 is "shut down" (PostgreSQL's `catalog/pg_control.h`).
pub fn was_shut_down(data: &Path) -> bool {
    let mut head = [0; 20];
    let read = open_file(&data.join("global/pg_control")).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head[16..] == 1_u32.to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fatal_line_is_reported_before_errors_and_the_last_line() {
        let fatal = "1 [2] FATAL:  out of memory\n1 [2] ERROR:  also\n1 [2] LOG:  database system is shut down";
        assert_eq!(complaint(fatal).as_deref(), Some("out of memory"));
        assert_eq!(complaint("initdb: error: no space\nremoving data").as_deref(), Some("no space"));
        assert_eq!(complaint("one\ntwo\n").as_deref(), Some("two"));
        assert_eq!(complaint(""), None);
    }
}
