//! What is refused, with one line and without a trace.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::private::support::{opened, refusal, sql, started};
use mindful_conformance::{names, quick_place};

#[test]
fn a_folder_of_another_user_is_refused_unchanged() {
    let place = quick_place();
    let folder = place.path().join("theirs");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("PG_VERSION"), "18\n").unwrap();
    let before = fs::metadata(&folder).unwrap();
    let message = refusal(&folder, &[]);
    assert!(message.contains("someone else") && message.contains("nothing was changed"), "{message}");
    assert_eq!(message.lines().count(), 1);
    let after = fs::metadata(&folder).unwrap();
    assert_eq!(before.permissions(), after.permissions());
    assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    assert_eq!(names(&folder), [std::path::Path::new("PG_VERSION")]);
}

#[test]
fn a_second_owner_is_refused_and_the_first_continues() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let server = started(&folder, &[]);
    let message = refusal(&folder, &[]);
    assert!(message.contains(&format!("process {}", std::process::id())), "{message}");
    assert_eq!(sql(&server, "SELECT 1"), "1");
}

#[test]
fn a_folder_the_servers_user_cannot_reach_is_named() {
    if rustix::process::geteuid().as_raw() != 0 {
        // Only root runs the server as another user; others get the system's own error.
        let message = refusal(std::path::Path::new("/proc/nowhere"), &[]);
        assert!(message.contains("/proc/nowhere"), "{message}");
        return mindful_conformance::not_run("only root runs the server as another user");
    }
    let place = quick_place();
    let closed = place.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
    let message = refusal(&closed.join("pg"), &[]);
    assert!(message.contains("cannot enter") && message.contains("closed"), "{message}");
    assert_eq!(names(&closed), [] as [&std::path::Path; 0]);
}

#[test]
fn without_network_and_binaries_next_steps_are_named() {
    let place = quick_place();
    let shelf = place.path().join("shelf").display().to_string();
    // No system would have 15.0 next to a fetched version, and a request for it is not answered with another version.
    let extra = [("fetch", "off"), ("fetch_dir", shelf.as_str()), ("pg_version", "15.0")];
    let message = refusal(&place.path().join("pg"), &extra);
    for way in ["--pg-bin", "network", "sqlite:"] {
        assert!(message.contains(way), "{message}");
    }
    assert_eq!(names(place.path()), [] as [&std::path::Path; 0]);
}

#[test]
fn data_of_another_major_version_is_refused_with_that_version() {
    let place = quick_place();
    let folder = place.path().join("pg");
    drop(opened(&folder, &[("pg_version", "17")]));
    let message = refusal(&folder, &[("pg_version", "18")]);
    assert!(message.contains("--pg-version 17"), "{message}");
}

#[test]
fn a_path_that_would_break_the_servers_files_is_refused() {
    let place = quick_place();
    let message = refusal(&place.path().join("a\nready"), &[]);
    assert!(message.contains("control character"), "{message}");
    assert_eq!(message.lines().count(), 1);
    assert_eq!(names(place.path()), [] as [&std::path::Path; 0]);
}

#[test]
fn a_cache_beyond_the_memory_is_refused() {
    let place = quick_place();
    let message = refusal(&place.path().join("pg"), &[("cache", "900TiB")]);
    assert!(message.contains("900 TiB") && message.contains("--cache"), "{message}");
    assert_eq!(names(place.path()), [] as [&std::path::Path; 0]);
}

#[test]
fn server_settings_that_do_not_exist_name_the_nearest() {
    let place = quick_place();
    let folder = place.path().join("pg");
    let message = refusal(&folder, &[("set", "work_mem=8MB,shared_bufers=64MB")]);
    assert!(message.contains("shared_bufers") && message.contains("did you mean `shared_buffers`"), "{message}");
    let message = refusal(&folder, &[("set", "shared_buffers=much")]);
    assert!(message.contains("much") && message.contains("--set"), "{message}");
    assert_eq!(names(place.path()), [] as [&std::path::Path; 0]);
}

#[test]
fn a_pipe_or_a_link_in_place_of_a_file_is_not_waited_for() {
    let place = quick_place();
    let folder = place.path().join("pg");
    drop(started(&folder, &[]));
    for name in ["pgdata/PG_VERSION", "pgdata/postmaster.pid", "pgdata/global/pg_control", "server.log", "mindful.lock"]
    {
        let (path, aside) = (folder.join(name), place.path().join("aside"));
        let was = fs::rename(&path, &aside).is_ok();
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
        let message = refusal(&folder, &[]);
        assert!(message.contains("plain file") || message.contains("no such device"), "{name}: {message}");
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(place.path().join("elsewhere"), &path).unwrap();
        if name != "pgdata/PG_VERSION" {
            refusal(&folder, &[]);
        }
        assert!(!place.path().join("elsewhere").exists(), "{name} was followed");
        fs::remove_file(&path).unwrap();
        if was {
            fs::rename(&aside, &path).unwrap();
        }
    }
    assert_eq!(sql(&started(&folder, &[]), "SELECT 1"), "1");
}

#[test]
fn a_mark_of_another_user_does_not_count() {
    if rustix::process::geteuid().as_raw() != 0 {
        return mindful_conformance::not_run("only root can make files of somebody else");
    }
    let place = quick_place();
    let folder = place.path().join("pg");
    drop(started(&folder, &[]));
    std::os::unix::fs::chown(&folder, Some(4_000_000), None).unwrap();
    let message = refusal(&folder, &[]);
    assert!(message.contains("user number 4000000") && message.contains("nothing was changed"), "{message}");
}
