//! The log of an instance in a folder of its own: used, kept, refused and removed like the data folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::processes::kill;
use mindful_conformance::{names, place};
use mindful_instance::Instance;
use mindful_instance::account::Account;
use mindful_instance::program::Purpose;

use crate::life::{open_with_log, pid, tell};
use crate::tiny::Tiny;

fn open(place: &Path, log: Option<&Path>) -> Instance {
    open_with_log(place, log, &Tiny::default()).0.unwrap()
}

fn refusal(place: &Path, log: &Path) -> String {
    open_with_log(place, Some(log), &Tiny::default()).0.err().expect("it is refused").to_string()
}

#[test]
fn a_dataset_keeps_its_log_and_goes_with_it() {
    let place = place();
    let log = place.path().join("log");
    let instance = open(place.path(), Some(&log));
    assert_eq!(tell(&instance, "one"), "written");
    let files = instance.log_files().unwrap();
    assert!(files.join("journal").exists() && !instance.data().join("journal").exists());
    assert_eq!(instance.host().log_paths, std::slice::from_ref(&files));
    let facts = fs::metadata(&files).unwrap();
    assert_eq!((facts.uid(), facts.mode() & 0o7777), (Account::choose(None).unwrap().uid, 0o700));
    drop(instance);
    // Neither an empty folder nor the data folder can replace the log.
    let refused = refusal(place.path(), &place.path().join("other"));
    let kept = format!("has its log in {}, and keeps it there", log.canonicalize().unwrap().display());
    assert!(refused.contains(&kept) && refused.contains("mindful cleanup"), "{refused}");
    symlink(&log, place.path().join("link")).unwrap();
    for named in [None, Some(log.as_path()), Some(&place.path().join("link"))] {
        assert_eq!(tell(&open(place.path(), named), "count"), "2", "{named:?}");
    }
    let instance = open(place.path(), None);
    fs::write(log.join("letter.txt"), "dear").unwrap();
    let owned = instance.owned(Vec::new(), &[]).unwrap();
    assert!(owned.name.ends_with(&format!(", its log in {}", log.display())), "{}", owned.name);
    assert!(owned.kept_because.unwrap().contains("log/letter.txt, not mindful's"));
    fs::remove_file(log.join("letter.txt")).unwrap();
    instance.destroy().unwrap();
    assert!(!log.exists() && !place.path().join("tiny").exists());
}

#[test]
fn a_dataset_with_its_log_inside_takes_no_log_folder() {
    let place = place();
    drop(open(place.path(), None));
    let refused = refusal(place.path(), &place.path().join("log"));
    assert!(refused.contains("has its log in the data folder, and keeps it there"), "{refused}");
    assert!(!place.path().join("log").exists());
}

#[test]
fn a_log_that_is_away_is_not_replaced_by_an_empty_one() {
    let place = place();
    let [log, away] = ["log", "away"].map(|name| place.path().join(name));
    drop(open(place.path(), Some(&log)));
    fs::rename(&log, &away).unwrap();
    for missing in [true, false] {
        if !missing {
            fs::create_dir(&log).unwrap();
        }
        let refused = refusal(place.path(), &log);
        assert!(refused.contains("the log of the dataset in") && refused.contains("mount the volume"), "{refused}");
    }
    assert_eq!(names(&log), [] as [PathBuf; 0]);
    fs::remove_dir(&log).unwrap();
    fs::rename(&away, &log).unwrap();
    assert_eq!(tell(&open(place.path(), None), "count"), "1");
}

#[test]
fn a_log_folder_is_refused_untouched_unless_it_is_free() {
    let place = place();
    let [data, theirs, other] = ["tiny", "theirs", "other"].map(|name| place.path().join(name));
    for (log, hint) in [
        (data.clone(), "one is inside the other"),
        (data.join("log"), "one is inside the other"),
        (place.path().to_owned(), "one is inside the other"),
        (place.path().join("a\nb"), "control character"),
    ] {
        let refused = refusal(place.path(), &log);
        assert!(refused.contains(hint) && refused.contains("--log-dir"), "{refused}");
        assert!(!data.exists(), "{}", log.display());
    }
    fs::create_dir(&theirs).unwrap();
    fs::write(theirs.join("letter.txt"), "dear").unwrap();
    let refused = refusal(place.path(), &theirs);
    assert!(refused.contains("holds files of someone else") && refused.contains("nothing was changed"), "{refused}");
    assert_eq!((names(&theirs), data.exists()), (vec![PathBuf::from("letter.txt")], false));
    // The folder of another server, and the log folder of another one.
    fs::create_dir(&other).unwrap();
    drop(open(&other, Some(&place.path().join("log"))));
    let refused = refusal(place.path(), &other.join("tiny"));
    assert!(refused.contains("holds a private Tiny server, not the log of"), "{refused}");
    let refused = refusal(place.path(), &place.path().join("log"));
    assert!(refused.contains("holds the log of the private Tiny server in"), "{refused}");
    assert_eq!(tell(&open(&other, None), "count"), "1");
}

#[test]
fn a_log_folder_that_others_can_bend_is_refused_by_root() {
    if !rustix::process::geteuid().is_root() {
        return mindful_conformance::not_run("only root gives folders away");
    }
    let place = place();
    let [theirs, link, real] = ["theirs", "link", "real"].map(|name| place.path().join(name));
    fs::create_dir(&theirs).unwrap();
    chown(&theirs, Some(65_534), None).unwrap();
    assert!(refusal(place.path(), &theirs.join("log")).contains("theirs belongs to user number 65534"));
    chown(&theirs, Some(0), None).unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o777)).unwrap();
    assert!(refusal(place.path(), &theirs.join("log")).contains("theirs may be written by others"));
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65_534), None).unwrap();
    assert!(refusal(place.path(), &link).contains("is a link of user number 65534"));
    drop(open(place.path(), Some(&real)));
    chown(real.join("mindful.mark"), Some(65_534), None).unwrap();
    assert!(refusal(place.path(), &real).contains("was made by user number 65534"));
    assert_eq!((names(&theirs), names(&real).len()), (vec![], 3));
}

#[test]
fn a_folder_mounted_at_a_second_place_is_the_same_folder() {
    let place = place();
    let [data, second] = ["tiny", "second"].map(|name| place.path().join(name));
    fs::create_dir_all(&data).unwrap();
    fs::create_dir(&second).unwrap();
    let run = |program: &str, args: &[&std::ffi::OsStr]| {
        Command::new(program).args(args).output().is_ok_and(|ran| ran.status.success())
    };
    if !run("mount", &["--bind".as_ref(), data.as_ref(), second.as_ref()]) {
        return mindful_conformance::not_run("only root mounts a folder at a second place");
    }
    let refused = open_with_log(place.path(), Some(&second.join("log")), &Tiny::default()).0.err();
    assert!(run("umount", &[second.as_ref()]));
    assert_eq!(names(&data), [] as [PathBuf; 0]);
    let refused = refused.expect("it is refused").to_string();
    assert!(refused.contains("one is inside the other"), "{refused}");
}

#[test]
fn half_a_dataset_leaves_no_log_and_a_crashed_load_a_new_one() {
    let place = place();
    let log = place.path().join("log");
    let barren = Tiny { barren: true, ..Tiny::default() };
    assert!(open_with_log(place.path(), Some(&log), &barren).0.is_err());
    assert!(!log.exists() && !place.path().join("tiny/log.folder").exists());
    // Without a dataset another folder may be chosen.
    let log = place.path().join("second");
    let instance = open(place.path(), Some(&log));
    instance.serve(Purpose::Load).unwrap();
    tell(&instance, "one");
    kill(pid(&instance));
    drop(instance);
    let (instance, notes) = open_with_log(place.path(), None, &Tiny::default());
    assert!(notes.tell("made again"), "{}", notes.all());
    let instance = instance.unwrap();
    assert_eq!((tell(&instance, "count").as_str(), instance.log_files().unwrap()), ("1", log.join("log")));
}
