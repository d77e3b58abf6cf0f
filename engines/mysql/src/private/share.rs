//! The files that a server needs besides its program: messages, character sets, and the scripts of its system tables.

use std::path::{Path, PathBuf};

use mindful_core::Error;

/// Scripts of MariaDB's system tables, in order; the first word of the names is `mysql` before 11.
const TABLES: [&str; 3] = ["system_tables", "performance_tables", "system_tables_data"];

/// The folder with the messages of the server in `bin`; `None` if the server has to find it.
pub(super) fn find_messages(bin: &Path) -> Option<PathBuf> {
    let top = bin.parent()?;
    let folders = ["share", "share/mariadb", "share/mysql"].map(|name| top.join(name));
    folders.into_iter().find(|folder| folder.join("english/errmsg.sys").is_file())
}

/// The scripts that make the system tables of a MariaDB, in their order.
pub(super) fn scripts(share: &Path) -> Option<[PathBuf; 3]> {
    let named = |word: &str| TABLES.map(|table| share.join(format!("{word}_{table}.sql")));
    [named("mariadb"), named("mysql")].into_iter().find(|files| files.iter().all(|file| file.is_file()))
}

/// The error for an unreadable file of the program.
pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Error {
    Error::target(format!("{}: {error}", path.display()), "make it readable for mindful")
}
