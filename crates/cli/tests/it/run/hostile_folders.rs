//! Folders that another user prepared: nothing is written, replaced or removed through a link of that user, whatever the verb.
//! A new verb or option with a path gets a row here.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::Path;

use mindful_conformance::write_files;

use crate::mindful::{Mindful, Words, ended, id, message, null};

fn listing(folder: &Path) -> Vec<(String, u64, i64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let facts = entry.metadata().unwrap();
        all.push((entry.path().display().to_string(), facts.size(), facts.mtime_nsec()));
        if facts.is_dir() {
            all.extend(listing(&entry.path()));
        }
    }
    all.sort();
    all
}

/// The rows: arguments in which `L` is a link of another user to a folder of ours, and `U` names a run.
const ROWS: &[&str] = &[
    "run --target null: --duration 1s --store L/store",
    "delete U --yes --store L",
    "export U --output L/new",
    "export U --output L/file --yes",
    "export U --as jsonl --output L/new",
    "export U --as site --output L/site",
    "pack U --output L/new",
    "import slob.conf --output L/new",
    "generate man L/man",
    "load --target sqlite:L/new --scale 500 --schemas 1",
    "load --target raw:L/new --scale 1MiB",
    "cleanup --target raw:L/made --yes",
    #[cfg(feature = "postgres")]
    "cleanup --data-dir L/pg --fetch off --yes",
    #[cfg(feature = "postgres")]
    "load --data-dir pg --log-dir L/log --fetch off --scale 16MiB",
    #[cfg(feature = "postgres")]
    "load --data-dir pg --fetch-dir L/shelf --fetch off --scale 16MiB",
];

#[test]
fn no_verb_writes_or_removes_through_a_link_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return mindful_conformance::not_run("only root can make links of others");
    }
    let mindful = Mindful::new();
    // The server's user can enter it.
    fs::set_permissions(mindful.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = mindful.measured("");
    let id = id(&run);
    let (ours, link) = (mindful.path("ours"), mindful.path("link"));
    let copy = format!("ours/runs/{id}/run.jsonl");
    let config = "UPDATE_PCT=10\nSCALE=10000\n";
    write_files(mindful.folder(), &[("ours/file", "kept"), ("slob.conf", config), (&copy, &mindful.record(&run))]);
    mindful.succeed("load --target raw:ours/made --scale 1MiB");
    symlink(&ours, &link).unwrap();
    // Through a link of our own everything works as before.
    mindful.succeed(format!("export {id} --output link/own"));
    lchown(&link, Some(65_533), None).unwrap();
    let before = listing(&ours);
    for row in ROWS {
        let fill = |arg: &str| match (arg, arg.split_once('L')) {
            ("U", _) => id.to_owned(),
            (_, Some((scheme, rest))) => format!("{scheme}{}{rest}", link.display()),
            (arg, None) => arg.to_owned(),
        };
        let output = mindful.run(row.split(' ').map(fill).collect::<Vec<_>>());
        let message = message(&output);
        assert!(matches!(output.status.code(), Some(1..=3)), "{row:?}: {output:?}");
        assert!(message.contains("is a link of user number 65533"), "{row:?}: {message}");
        assert_eq!(listing(&ours), before, "{row:?}");
    }
}

/// The user who called sudo could do everything as root anyway; anyone else could not.
#[test]
fn links_and_folders_of_who_called_sudo_are_followed() {
    const CALLER: u32 = 65_532;
    if !rustix::process::geteuid().is_root() {
        return mindful_conformance::not_run("only root can make links of others");
    }
    let mindful = Mindful::new();
    let id = id(&mindful.measured("")).to_owned();
    let (ours, link, theirs) = (mindful.path("ours"), mindful.path("link"), mindful.path("theirs"));
    fs::create_dir(&ours).unwrap();
    fs::create_dir(&theirs).unwrap();
    symlink(&ours, &link).unwrap();
    let (new, store) = (link.join("new").display().to_string(), theirs.join("store").display().to_string());
    let (export, run) = (format!("export {id} --output {new}"), format!("--duration=200ms --store {store}"));
    for (owner, sudo, is_followed) in [
        (CALLER, "65532", true),
        (65_533, "65532", false),
        (CALLER, "", false),
        (CALLER, "x", false),
        (CALLER, "-1", false),
    ] {
        lchown(&link, Some(owner), None).unwrap();
        chown(&theirs, Some(owner), None).unwrap();
        for args in [export.words(), null("run", &run)] {
            let output = mindful.command(&args).env("SUDO_UID", sudo).output().unwrap();
            let message = message(&output);
            assert_eq!(ended(&output), is_followed, "{owner} {sudo:?} {args:?}: {message}");
            let refusal = format!("user number {owner}");
            assert_eq!(message.contains(&refusal), !is_followed, "{owner} {sudo:?} {args:?}: {message}");
        }
        let made = [ours.join("new").exists(), theirs.join("store").exists()];
        assert_eq!(made, [is_followed; 2], "{owner} {sudo:?}");
        let _ = (fs::remove_file(ours.join("new")), fs::remove_dir_all(theirs.join("store")));
    }
}
