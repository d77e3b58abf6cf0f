//! What is refused, with one line and without a trace.

use std::fs;

use crate::support::{MARIADB, OLDER, refusal, servers, sql, started};
use mindful_conformance::{names, quick_place, write_program};

#[test]
fn a_mariadb_that_does_not_start_says_why_in_one_line() {
    let place = quick_place();
    let folder = place.path().join("db");
    drop(started(MARIADB, &folder, &[]));
    // A known name with a valid value, but not for data with pages of another length.
    let message = refusal(MARIADB, &folder, &[("set", "innodb_page_size=32768")]);
    assert!(message.contains("innodb_page_size") && message.contains("server.log"), "{message}");
    assert_eq!(message.lines().count(), 1);
    assert_eq!(servers(&folder), [] as [i32; 0]);
    let server = started(MARIADB, &folder, &[]);
    let second = refusal(MARIADB, &folder, &[]);
    assert!(second.contains(&format!("process {}", std::process::id())), "{second}");
    assert_eq!(sql(&server, "SELECT 1"), "1");
    drop(server);
    let message = refusal(OLDER, &folder, &[]);
    assert!(message.contains("is of MariaDB 11.4.5, the program is MariaDB 10.11."), "{message}");
}

#[test]
fn a_folder_of_another_user_is_refused_for_a_mariadb() {
    let place = quick_place();
    let folder = place.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("ibdata1"), "theirs").unwrap();
    let message = refusal(MARIADB, &folder, &[]);
    assert!(message.contains("someone else") && message.contains("nothing was changed"), "{message}");
    assert_eq!(names(&folder), [std::path::Path::new("ibdata1")]);
}

#[test]
fn without_network_and_programs_next_steps_are_named() {
    let place = quick_place();
    let [shelf, bin] = ["shelf", "bin"].map(|name| place.path().join(name).display().to_string());
    fs::create_dir(&bin).unwrap();
    let message = refusal(MARIADB, &place.path().join("db"), &[("mysql_bin", &bin)]);
    assert!(message.contains("does not hold mariadbd") && message.contains("command -v"), "{message}");
    // Without a network there is no MySQL: the system has a MariaDB.
    let extra = [("fetch", "off"), ("fetch_dir", shelf.as_str()), ("mysql_flavor", "mysql")];
    let message = refusal(MARIADB, &place.path().join("db"), &extra);
    for way in ["--mysql-bin", "network", "sqlite:"] {
        assert!(message.contains(way), "{message}");
    }
}

#[test]
fn a_buffer_pool_beyond_the_memory_is_refused() {
    let place = quick_place();
    let message = refusal(MARIADB, &place.path().join("db"), &[("cache", "900TiB")]);
    assert!(message.contains("900 TiB") && message.contains("--cache"), "{message}");
    assert_eq!(names(place.path()), [] as [std::path::PathBuf; 0]);
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
        let message = refusal(MARIADB, &place.path().join("db"), &extra);
        assert!(message.contains("does not run") && message.contains("apt-get install libaio1"), "{message}");
    }
}
