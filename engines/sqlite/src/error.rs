//! SQLite's errors in one line each, with the next step.

use std::path::Path;

use mindful_core::Error;
use mindful_host::{file_lock, space};
use rusqlite::ErrorCode;

/// Less free space than a log and its index need to begin.
const NEXT_TO_NOTHING: u64 = 128 << 10;

pub(crate) fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    let file = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            Error::target(format!("{file} is not a SQLite file"), "name another file; this one was not changed")
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::target(format!("{file} is damaged ({error})"), "remove it and load again")
        }
        Some(ErrorCode::DiskFull) => full(path),
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => read_only(path, error),
        Some(code @ (ErrorCode::CannotOpen | ErrorCode::SystemIoFailure)) => unusable(path, error, code),
        // A mindful in the midst of a transaction is met here before its lock of the whole file is.
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) if file_lock::others(path).is_some() => {
            file_lock::in_use(path)
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::target(format!("another program has locked {file}"), "end it, then try again")
        }
        Some(ErrorCode::OperationInterrupted) => Error::interrupted(format!("work on {file} was interrupted")),
        _ => Error::run(format!("{file}: {error}"), "check whether another program changed the file"),
    }
}

fn full(path: &Path) -> Error {
    Error::run(format!("no space left for {}", path.display()), "free some, or name a file on another file system")
}

fn read_only(path: &Path, error: &rusqlite::Error) -> Error {
    Error::target(format!("{} may not be written ({error})", path.display()), "make it and its folder writable")
}

/// SQLite reports a full or read-only file system as an I/O error if it cannot map its log's index: check the file
/// system.
fn unusable(path: &Path, error: &rusqlite::Error, code: ErrorCode) -> Error {
    let file = path.display();
    if let Ok(space) = space::of(path.parent().unwrap_or(path)) {
        if space.read_only {
            return read_only(path, error);
        }
        if space.free_bytes < NEXT_TO_NOTHING {
            return full(path);
        }
    }
    if code == ErrorCode::CannotOpen {
        return Error::target(
            format!("cannot open {file} ({error})"),
            "make it and its folder readable and writable for this user",
        );
    }
    Error::run(format!("I/O on {file} failed ({error})"), "see the kernel's log for its device")
}

#[cfg(test)]
mod tests {
    use mindful_core::ErrorKind;
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn a_mindful_that_holds_a_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let (one, other) = (Connection::open(&path).unwrap(), Connection::open(&path).unwrap());
        one.execute_batch("CREATE TABLE t (a); BEGIN EXCLUSIVE").unwrap();
        other.busy_timeout(std::time::Duration::ZERO).unwrap();
        let refused = || explain(&path, &other.execute_batch("INSERT INTO t VALUES (1)").unwrap_err()).to_string();
        assert!(refused().contains("another program has locked"), "{}", refused());
        let mut holder =
            std::process::Command::new("flock").arg("-F").arg(&path).args(["sleep", "60"]).spawn().unwrap();
        while file_lock::others(&path).is_none() {
            std::thread::yield_now();
        }
        let message = refused();
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(message.contains(&format!("(process {})", holder.id())), "{message}");
    }

    #[test]
    fn full_and_read_only_files_are_reported_with_a_next_step() {
        for (setting, sql, kind, said) in [
            ("max_page_count = 3", "INSERT INTO t VALUES (zeroblob(100000))", ErrorKind::Run, "no space left"),
            ("query_only = 1", "INSERT INTO t VALUES (1)", ErrorKind::Target, "writable"),
        ] {
            let connection = Connection::open_in_memory().unwrap();
            connection.execute_batch(&format!("CREATE TABLE t (a); PRAGMA {setting}")).unwrap();
            let error = explain(Path::new("/t.db"), &connection.execute_batch(sql).unwrap_err());
            assert!(error.kind == kind && error.to_string().contains(said), "{error}");
        }
    }
}
