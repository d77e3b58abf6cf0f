//! What the program says of its settings before there is a data folder.

use std::path::Path;
use std::process::{Command, Output};

use mindful_core::settings::nearest;
use mindful_core::{Error, Result};
use mindful_instance::account::Account;

use super::complaint;
use super::programs::Programs;
use super::share;

/// Refuses a program that does not run, and settings that it does not know by their whole name: the server itself would
/// take any beginning of one.
pub fn check_settings(programs: &Programs, set: &[(String, String)], account: &Account) -> Result<()> {
    let said = ask(programs, account, &[])?;
    let names = names(&String::from_utf8_lossy(&said.stdout));
    if names.is_empty() {
        return Err(broken(programs, &said));
    }
    for (name, value) in set {
        if !names.contains(name) {
            let next = match nearest(name, names.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("see `{} --verbose --help`", programs.server().display()),
            };
            return Err(Error::plan(format!("--set {name}={value}: there is no such setting"), next));
        }
        let tried = ask(programs, account, &[format!("--{name}={value}")])?;
        if !tried.status.success() {
            let next = format!("see `{} --verbose --help`", programs.server().display());
            return Err(Error::plan(format!("--set {name}={value}: {}", complaint(&tried)), next));
        }
    }
    Ok(())
}

fn ask(programs: &Programs, account: &Account, more: &[String]) -> Result<Output> {
    let mut command = account.command(programs.server(), Path::new("/"));
    command.arg("--no-defaults").args(messages(&programs.bin)).args(more).args(["--verbose", "--help"]);
    run(&mut command, programs)
}

/// Where the program finds what it says.
pub fn messages(bin: &Path) -> Vec<String> {
    let Some(share) = share::of(bin) else { return Vec::new() };
    let share = share.display();
    vec![format!("--lc-messages-dir={share}"), format!("--character-sets-dir={share}/charsets")]
}

fn run(command: &mut Command, programs: &Programs) -> Result<Output> {
    let failed = |error: std::io::Error| {
        Error::target(format!("{} does not run ({error})", programs.server().display()), "name another --mysql-bin")
    };
    command.output().map_err(failed)
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
        "install it (apt-get install libaio1, dnf install libaio), or name its folder by LD_LIBRARY_PATH"
    } else {
        "install what it misses, or name another --mysql-bin"
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
