//! Private servers that start, serve, stop and are removed.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use mindful_conformance::processes::assert_no_tcp;
use mindful_conformance::{names, quick_place};
use mindful_mysql::private::Purpose;

use crate::support::{Kind, MARIADB, MYSQL, OLDER, open, opened, servers, sql, started};

#[test]
fn mariadb_starts_serves_and_is_removed() {
    lives(MARIADB, "11.4.5-MariaDB");
}

#[test]
fn an_older_mariadb_of_the_system_does_too() {
    lives(OLDER, "10.11.");
}

#[test]
fn mysql_does_too() {
    lives(MYSQL, "8.0.31");
}

/// From the making of its folder to its removal, with a restart for a load between.
fn lives(kind: Kind, version: &str) {
    let place = quick_place();
    let [folder, log] = ["db", "log"].map(|name| place.path().join(name));
    let server = opened(kind, &folder, &[("log_dir", log.to_str().unwrap())]);
    let redo = |folder: &Path| ["ib_logfile0", "#innodb_redo"].into_iter().any(|name| folder.join(name).exists());
    assert!(redo(&log.join("log")) && !redo(&server.data()));
    assert!(sql(&server, "SELECT VERSION()").starts_with(version));
    for (name, wanted) in [
        ("innodb_flush_method", "O_DIRECT"),
        ("innodb_adaptive_hash_index", "0"),
        ("innodb_read_ahead_threshold", "0"),
        ("skip_networking", "1"),
        ("innodb_buffer_pool_load_at_startup", "0"),
        ("log_bin", "0"),
        ("innodb_buffer_pool_size", "67108864"),
        ("innodb_log_group_home_dir", log.join("log").to_str().unwrap()),
    ] {
        assert_eq!(sql(&server, &format!("SELECT @@GLOBAL.{name}")), wanted, "{name}");
    }
    sql(&server, "CREATE DATABASE mine");
    assert!(server.serve(Purpose::Load).unwrap(), "a load has settings of its own");
    assert_eq!(sql(&server, "SELECT @@GLOBAL.innodb_io_capacity"), "10000");
    assert!(server.serve(Purpose::Run).unwrap());
    assert_eq!(sql(&server, "SHOW DATABASES LIKE 'mine'"), "mine");
    let pid = server.pid() as i32;
    assert_eq!(servers(&folder), [pid]);
    assert_eq!(server.owned(Vec::new(), &[]).unwrap().kept_because, None);

    drop(server);

    assert_eq!(servers(&folder), [] as [i32; 0]);
    let (server, notes) = open(kind, &folder, &[]);
    assert!(!notes.tell("recovers first"), "{}", notes.all());
    server.unwrap().destroy().unwrap();
    assert_eq!(names(place.path()), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_private_mariadb_listens_on_a_closed_socket_alone() {
    let place = quick_place();
    let server = started(MARIADB, &place.path().join("db"), &[]);
    let folder = server.socket().parent().unwrap().to_owned();
    assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(sql(&server, "SELECT @@GLOBAL.skip_networking"), "1");
    assert_no_tcp(&[server.pid() as i32]);
}
