//! SQLite's errors in one line each, with the next move.

use std::path::Path;

use mindful_core::Error;
use rusqlite::ErrorCode;

/// What `error` on the file at `path` means for the user.
pub fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    let file = path.display();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            Error::target(format!("{file} is no SQLite file"), "name another file: this one is left as it is")
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            Error::target(format!("{file} is damaged ({error})"), "remove it and load anew")
        }
        Some(ErrorCode::DiskFull) => {
            Error::run(format!("no space left for {file}"), "free some, or name a file on another file system")
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            Error::target(format!("{file} may not be written ({error})"), "make it and its folder writable")
        }
        Some(ErrorCode::CannotOpen) => Error::target(
            format!("cannot open {file} ({error})"),
            "see that it and its folder may be read and written by this user",
        ),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::target(format!("another program, or another mindful, holds {file} locked"), "end it, then try again")
        }
        Some(ErrorCode::OperationInterrupted) => Error::interrupted(format!("work on {file} was interrupted")),
        Some(ErrorCode::SystemIoFailure) => {
            Error::run(format!("I/O on {file} failed ({error})"), "see the kernel's log for its device")
        }
        _ => Error::run(format!("{file}: {error}"), "see whether something else changed the file"),
    }
}

#[cfg(test)]
mod tests {
    use mindful_core::ErrorKind;
    use rusqlite::Connection;

    use super::*;

    /// The error that SQLite itself gives for `sql` after `setting`, on a real file.
    fn provoked(setting: &str, sql: &str) -> Error {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("CREATE TABLE t (a)").unwrap();
        connection.execute_batch(setting).unwrap();
        let error = connection.execute_batch(sql).unwrap_err();
        explain(&path, &error)
    }

    #[test]
    fn a_full_disk_is_told_with_a_way_out() {
        let error = provoked("PRAGMA max_page_count = 3", "INSERT INTO t VALUES (zeroblob(100000))");
        assert_eq!(error.kind, ErrorKind::Run);
        assert!(error.to_string().contains("no space left"), "{error}");
    }

    #[test]
    fn a_read_only_file_is_told_with_a_way_out() {
        let error = provoked("PRAGMA query_only = 1", "INSERT INTO t VALUES (1)");
        assert_eq!(error.kind, ErrorKind::Target);
        assert!(error.to_string().contains("writable"), "{error}");
    }
}
