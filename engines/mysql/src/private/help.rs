//! The program's own list of settings, available before there is a data folder.

use std::path::Path;
use std::process::Output;

use mindful_core::plan::settings::nearest;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;

use super::complaint;
use super::programs::Programs;
use super::share;

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
            return Ok(Some(Error::plan(format!("--set {name}={value}: {}", complaint(&tried)), read_help)));
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
    let Some(share) = share::find_messages(bin) else { return Vec::new() };
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
    let why = complaint(said);
    let next = if why.contains("libaio") {
        "install it (apt-get install libaio1, dnf install libaio), or name its folder in LD_LIBRARY_PATH"
    } else {
        "install what it needs, or name another --mysql-bin"
    };
    Error::target(format!("{} does not run: {why}", programs.server().display()), next)
}

fn complaint(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    complaint::complaint(&text).unwrap_or_else(|| said.status.to_string())
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
}
