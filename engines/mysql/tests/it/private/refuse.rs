//! What is refused, with one line and without a trace.

use std::fs;

use crate::support::{MARIADB, MYSQL, OLDER, refusal, started};
use mindful_conformance::{assert_says, names, quick_place, write_program};

#[test]
fn data_of_another_version_is_refused() {
    let place = quick_place();
    let folder = place.path().join("db");
    drop(started(MARIADB, &folder, &[]));
    assert_says(refusal(OLDER, &folder, &[]), &["is of MariaDB 11.4.5, the program is MariaDB 10.11."]);
}

#[test]
fn without_network_and_programs_next_steps_are_named() {
    let place = quick_place();
    let [shelf, bin] = ["shelf", "bin"].map(|name| place.path().join(name).display().to_string());
    fs::create_dir(&bin).unwrap();
    assert_says(
        refusal(MARIADB, &place.path().join("db"), &[("mysql_bin", &bin)]),
        &["does not hold mariadbd", "command -v"],
    );
    // Without a network there is no MySQL: the system has a MariaDB.
    let extra = [("fetch", "off"), ("fetch_dir", shelf.as_str()), ("mysql_flavor", "mysql")];
    let message = refusal(MARIADB, &place.path().join("db"), &extra);
    assert_says(&message, &["--mysql-bin", "network", "sqlite:"]);
}

#[test]
fn a_setting_that_cannot_be_is_refused_with_the_next_step() {
    let place = quick_place();
    for (kind, setting, said) in [
        (MARIADB, ("cache", "900TiB"), &["900 TiB", "--cache"][..]),
        (MARIADB, ("set", "innodb_flush_neighbours=1"), &["did you mean `innodb_flush_neighbors`"]),
        // The server itself accepts the beginning of a name for the whole.
        (MYSQL, ("set", "datadi=/etc"), &["did you mean `datadir`"]),
    ] {
        assert_says(refusal(kind, &place.path().join("db"), &[setting]), said);
        assert_eq!(names(place.path()), [] as [std::path::PathBuf; 0]);
    }
}

#[test]
fn a_mariadb_that_misses_a_library_names_its_package() {
    let place = quick_place();
    let shelf = place.path().join("shelf");
    let bin = shelf.join("11.4.5/bin");
    fs::create_dir_all(&bin).unwrap();
    let missing = "error while loading shared libraries: libaio.so.1: cannot open shared object file";
    write_program(&bin.join("mariadbd"), &format!("#!/bin/sh\necho \"mariadbd: {missing}\" >&2\nexit 127\n"));
    for set in [&[][..], &[("set", "innodb_io_capacity=400")]] {
        let extra = [&[("fetch_dir", shelf.to_str().unwrap())], set].concat();
        assert_says(refusal(MARIADB, &place.path().join("db"), &extra), &["does not run", "apt-get install libaio1"]);
    }
}
