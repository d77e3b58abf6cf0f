//! A program: its own list of settings, available before there is a data folder, its files, and its complaints.

use std::path::{Path, PathBuf};
use std::process::Output;

use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;
use mindful_instance::log::{first_with, last_with};

use super::programs::Programs;

/// Refuses a program that does not run, and settings that are not in its list by their full name: the server itself
/// would accept any unique prefix. Without settings only the version is queried: reading its list takes ten times as
/// long.
pub(super) fn check_settings(programs: &Programs, set: &[(String, String)], account: &Account) -> Result<()> {
    if set.is_empty() {
        let said = ask(programs, account, &["--version"])?;
        return if said.status.success() { Ok(()) } else { Err(broken(programs, &said)) };
    }
    let said = help(programs, account, set)?;
    let names = names(&String::from_utf8_lossy(&said.stdout));
    if said.status.success() && set.iter().all(|(name, _)| names.contains(name)) {
        return Ok(());
    }
    Err(refusal(programs, set, account)?.unwrap_or_else(|| broken(programs, &said)))
}

fn refusal(programs: &Programs, set: &[(String, String)], account: &Account) -> Result<Option<Error>> {
    let said = help(programs, account, &[])?;
    let names = names(&String::from_utf8_lossy(&said.stdout));
    if names.is_empty() {
        return Ok(Some(broken(programs, &said)));
    }
    let read_help = format!("see `{} --verbose --help`", programs.server().display());
    for setting in set {
        let (name, value) = setting;
        if !names.contains(name) {
            let near = nearest(name, names.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
            let what = format!("--set {name}={value}: the setting does not exist");
            return Ok(Some(Error::plan(what, near.unwrap_or(read_help))));
        }
        let tried = help(programs, account, std::slice::from_ref(setting))?;
        if !tried.status.success() {
            return Ok(Some(Error::plan(format!("--set {name}={value}: {}", complaint_of(&tried)), read_help)));
        }
    }
    Ok(None)
}

fn help(programs: &Programs, account: &Account, set: &[(String, String)]) -> Result<Output> {
    let set = set.iter().map(|(name, value)| format!("--{name}={value}"));
    let words: Vec<_> = messages(&programs.bin).into_iter().chain(set).collect();
    let words = words.iter().map(String::as_str).chain(["--verbose", "--help"]);
    ask(programs, account, &words.collect::<Vec<_>>())
}

fn ask(programs: &Programs, account: &Account, words: &[&str]) -> Result<Output> {
    let mut command = account.command(programs.server(), Path::new("/"));
    command.arg("--no-defaults").args(words).output().map_err(|error| {
        Error::target(format!("{} does not run ({error})", programs.server().display()), "name another --mysql-bin")
    })
}

/// Folder of the program's messages.
pub(super) fn messages(bin: &Path) -> Vec<String> {
    let Some(share) = find_messages(bin) else { return Vec::new() };
    let share = share.display();
    vec![format!("--lc-messages-dir={share}"), format!("--character-sets-dir={share}/charsets")]
}

/// The settings of the table in which the help ends, as statements write them.
fn names(help: &str) -> Vec<String> {
    let table = help.lines().skip_while(|line| !line.starts_with("-----"));
    let name = |line: &str| {
        let name = line.split_whitespace().next()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
        name.chars().all(plain).then(|| name.replace('-', "_"))
    };
    table.skip(1).take_while(|line| !line.is_empty()).filter_map(name).collect()
}

fn broken(programs: &Programs, said: &Output) -> Error {
    let why = complaint_of(said);
    let next = if why.contains("libaio") {
        "install it (apt-get install libaio1, dnf install libaio), or name its folder in LD_LIBRARY_PATH"
    } else {
        "install what it needs, or name another --mysql-bin"
    };
    Error::target(format!("{} does not run: {why}", programs.server().display()), next)
}

fn complaint_of(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    complaint(&text).unwrap_or_else(|| said.status.to_string())
}

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

/// The first error, which causes the later ones, else the last line; without its time, thread and subsystem.
pub(super) fn complaint(said: &str) -> Option<String> {
    let line = first_with(said, &["[ERROR] "]).or_else(|| last_with(said, &[""]))?;
    let mut rest = line.as_str();
    while let Some((_, behind)) = rest.strip_prefix('[').and_then(|inner| inner.split_once("] ")) {
        rest = behind;
    }
    Some(rest.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_off_the_table_of_the_help() {
        let help = "mysqld  Ver 8.0\n  --big-tables  Allow\nVariables (--variable-name=value)\nand boolean options \
                    {FALSE|TRUE}              Value (after reading options)\n-----------------------  -----------\n\
                    allow-suspicious-udfs    FALSE\nautocommit   TRUE\n\nTo see what values …\nnot-one  here\n";
        assert_eq!(names(help), ["allow_suspicious_udfs", "autocommit"]);
    }

    #[test]
    fn the_first_error_is_shown_without_internal_details() {
        let mysql = "2026-11-22T11:00:00.1Z 0 [System] [MY-010116] [Server] starting\n\
                     2026-11-22T11:00:00.2Z 0 [ERROR] [MY-000067] [Server] unknown variable 'a=b'.\n\
                     2026-11-22T11:00:00.2Z 0 [ERROR] [MY-010119] [Server] Aborting\n";
        assert_eq!(complaint(mysql).as_deref(), Some("unknown variable 'a=b'."));
        let maria = "2026-11-22 11:52:45 0 [Note] InnoDB: x\n2026-11-22 11:52:45 0 [ERROR] InnoDB: no space\n";
        assert_eq!(complaint(maria).as_deref(), Some("InnoDB: no space"));
        let loader = "bin/mysqld: error while loading shared libraries: libaio.so.1: cannot open\n";
        assert_eq!(complaint(loader).as_deref(), Some(loader.trim()));
        assert_eq!(complaint(""), None);
    }
}
