//! `mindful generate`: completion scripts and manual pages, for packages and a shell's start-up file.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::str::FromStr;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use mindful_core::{Error, Result};
use mindful_host::named_path;
use mindful_record::file;

use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Shown, Verb};

pub(super) const VERB: Verb = Verb {
    name: "generate",
    about: "Print a completion script, or write the manual pages",
    details: "",
    example: "mindful generate completions bash",
    page: "docs/install.md",
    plan: None,
    arguments: || {
        let what = Arg::new("what").value_name("completions|man").value_parser(["completions", "man"]);
        let of = Arg::new("of").value_name("SHELL|FOLDER").value_parser(NonEmptyStringValueParser::new());
        vec![
            what.hide_possible_values(true).required(true).help("Kind of file to generate"),
            of.required(true).help("bash, elvish, fish, powershell or zsh; for man, the folder, which is created"),
        ]
    },
    action: Action::Describe(generate),
};

fn generate(matches: &ArgMatches, program: &dyn Fn(Shown) -> Command) -> Result<Exit> {
    let text = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let printed = match text("what") {
        "man" => manual(Path::new(text("of")), program(Shown::AllKeys))?,
        _ => completions(text("of"), program(Shown::Everything))?,
    };
    context::print(&printed)
}

fn completions(shell: &str, mut program: Command) -> Result<String> {
    let shell = Shell::from_str(shell)
        .map_err(|_| Error::plan(format!("unknown shell `{shell}`"), "choose bash, elvish, fish, powershell, zsh"))?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program, "mindful", &mut script);
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Writes `mindful.1` and `mindful-VERB.1` into `folder`; returns the path of the first.
fn manual(folder: &Path, program: Command) -> Result<String> {
    named_path::folder(folder).and_then(fs::create_dir_all).map_err(|error| {
        Error::plan(format!("cannot create {}: {error}", folder.display()), "choose another folder")
    })?;
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    for page in verbs.chain([program.clone()]).map(Man::new) {
        write(&folder.join(page.get_filename()), &page)?;
    }
    Ok(format!("{}\n", folder.join("mindful.1").display()))
}

/// Writes one page that everybody may read; replaces an older one.
fn write(path: &Path, page: &Man) -> Result<()> {
    let mut text = Vec::new();
    let written = page.render(&mut text).and_then(|()| {
        file::put(path, path.symlink_metadata().is_ok(), |mut file| {
            file.write_all(&text)?;
            file.set_permissions(fs::Permissions::from_mode(0o644))
        })
    });
    written.map_err(|error| {
        Error::plan(format!("cannot write {}: {error}", path.display()), "remove it, or choose another folder")
    })
}
